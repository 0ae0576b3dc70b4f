// SPDX-License-Identifier: Apache-2.0
// Block copies by many threads. The first node of each pair works.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct copy_args {
  uint64_t from, to;    // offsets: local and remote (store) or remote and local (load)
  uint64_t words;       // of 8 bytes
  uint64_t arrived;     // offset of a 4-byte counter of blocks, 0 at the start
  uint64_t outcomes;    // offset of an outcome for each block
  uint64_t stride = 1;  // 2: every second word of both memories
};

// Consecutive lanes copy consecutive words, or every second one; the warp meets between load and store.
GGAS_DEVICE void copy_words(uint64_t* to, const uint64_t* from, const copy_args& a) {
  const unsigned t = global_thread(), threads = global_threads(), mask = detail::lane_mask();
  for (uint64_t base = 0; base < a.words; base += threads) {
    const uint64_t place = (base + t) * a.stride;
    uint64_t v = 0;
    if (base + t < a.words) v = ggas_load(from + place);
    __syncwarp(mask);
    if (base + t < a.words) ggas_store(to + place, v);
  }
}

// True in the last block of the grid that calls it; its stores and those of all other blocks are then ordered before
// later accesses.
GGAS_DEVICE bool last_block(uint64_t counter_offset) {
  GGAS_SHARED(unsigned, place);
  __syncthreads();
  if (detail::thread_rank() == 0) {
    ggas_fence();
    place = atomicAdd(own<unsigned>(counter_offset), 1u);
    ggas_fence();
  }
  __syncthreads();
  return place == detail::block_count() - 1;
}

// Local to remote. The copy ends when all data are visible at the target, for which the last block waits.
__global__ void store_copy(copy_args a) {
  if (!leads_pair()) return;
  const uint64_t begin = time_ns();
  copy_words(ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.to), own<uint64_t>(a.from), a);
  ggas_status s = ggas_ok;
  if (last_block(a.arrived)) s = ggas_quiet_block();
  if (detail::thread_rank() == 0)
    own<outcome>(a.outcomes)[detail::block_rank()] = {begin, time_ns(), 0, static_cast<uint64_t>(s)};
}

// Remote to local.
__global__ void load_copy(copy_args a) {
  if (!leads_pair()) return;
  const uint64_t begin = time_ns();
  copy_words(own<uint64_t>(a.to), ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.from), a);
  __syncthreads();
  if (detail::thread_rank() == 0) own<outcome>(a.outcomes)[detail::block_rank()] = {begin, time_ns(), 0, ggas_ok};
}

}  // namespace ggas::bench
