// SPDX-License-Identifier: Apache-2.0
// Shared by benchmark kernels. Kernels write their results with plain stores into their own segment, where the host
// reads them.
#pragma once

#include "ggas/ggas.cuh"

namespace ggas::bench {

// What one thread found.
struct outcome {
  uint64_t begin_ns, end_ns;  // the measured part, on this node's clock
  uint64_t errors;            // values that were not what they had to be
  uint64_t status;            // first ggas_status that was not ok
};

GGAS_DEVICE uint64_t time_ns() { return detail::clock_ns(); }
GGAS_DEVICE unsigned global_thread() { return detail::block_rank() * detail::thread_count() + detail::thread_rank(); }
GGAS_DEVICE unsigned global_threads() { return detail::block_count() * detail::thread_count(); }

// Nodes work in pairs: 0 and 1, 2 and 3, …; a node without a partner is idle.
GGAS_DEVICE bool leads_pair() { return ggas_node() % 2 == 0 && ggas_node() + 1 < ggas_nodes(); }

// Bytes `offset` after the start of the own segment.
template <class T>
GGAS_DEVICE T* own(uint64_t offset) {
  return ggas_pointer_of_node<T>(ggas_node(), offset);
}

// A value that distinguishes seed, round and place and is never 0 (splitmix64).
GGAS_HOST_DEVICE constexpr uint64_t pattern(uint64_t seed, uint64_t round, uint64_t place) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + (round << 32) + place + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) | 1;
}

}  // namespace ggas::bench
