// SPDX-License-Identifier: Apache-2.0
// Kernels with the patterns of other libraries, one source for the host engine, the simulator and GPUs. They mix plain
// accesses and ggas_ calls on the node's own memory as programs do. Each has a reference for its result.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::ports {

struct args {
  uint64_t result;    // offset of the words that a port leaves on every node; zero at first
  uint64_t memory;    // offset of what else it uses, the same on every node; zero at first
  uint64_t outcomes;  // of a bench::outcome for each thread
  uint64_t rounds;
  uint64_t timeout_ns;
};
constexpr uint64_t result_words = 2048, memory_bytes = 192 << 10;

// Places in sequence, the same ones on every node.
struct room {
  uint64_t next;
  template <class T>
  GGAS_HOST_DEVICE uint64_t take(uint64_t n) {
    const uint64_t at = next;
    next += (n * sizeof(T) + 127) / 128 * 128;
    return at;
  }
};

GGAS_HOST_DEVICE constexpr uint32_t value(int node, uint64_t round, uint64_t place) {
  return static_cast<uint32_t>(bench::pattern(static_cast<uint64_t>(node) + 1, round, place));
}
GGAS_HOST_DEVICE constexpr int modulo(int v, int n) { return (v % n + n) % n; }

// Whether all threads of the block say so; a block barrier.
GGAS_DEVICE bool block_agrees(bool ok) { return __syncthreads_and(ok) != 0; }

GGAS_DEVICE void report(const args& a, ggas_status s) {
  bench::own<bench::outcome>(a.outcomes)[bench::global_thread()] = {0, 0, 0, static_cast<uint64_t>(s)};
}

}  // namespace ggas::ports
