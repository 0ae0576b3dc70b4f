// SPDX-License-Identifier: Apache-2.0
// Packets through a row of nodes, with two buffers at each: a signal says that one is full, a credit that it is free
// again, as in pipelined sends of NVSHMEM and MSCCL++ programs.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

constexpr unsigned stage_words = 128;

GGAS_HOST_DEVICE constexpr uint32_t stage_of(int node, uint64_t k, unsigned i, uint32_t before) {
  return before * 5 + value(node, k, i);
}
GGAS_HOST_DEVICE constexpr uint32_t take_in(uint32_t seen, uint32_t word) { return seen * 31 + word; }

static __global__ void pipeline(args a) {
  const int me = ggas_node(), nodes = ggas_nodes();
  const bool first = me == 0, last = me == nodes - 1;
  room places{a.memory};
  const uint64_t inbox = places.take<uint32_t>(2 * stage_words), outbox = places.take<uint32_t>(2 * stage_words);
  const uint64_t full = places.take<uint64_t>(1), credit = places.take<uint64_t>(1);
  uint32_t* const result = bench::own<uint32_t>(a.result);
  ggas_status s = ggas_ok;
  for (uint64_t k = 0; k < 3 * a.rounds && s == ggas_ok; ++k) {
    const uint64_t buffer = k % 2 * stage_words * sizeof(uint32_t);
    const uint32_t* const in = bench::own<uint32_t>(inbox + buffer);
    uint32_t* const out = bench::own<uint32_t>(outbox + buffer);
    if (!first) s = ggas_wait_until_block(bench::own<uint64_t>(full), ggas_ge, k + 1, a.timeout_ns);
    if (!last && k >= 2 && s == ggas_ok)
      s = ggas_wait_until_block(bench::own<uint64_t>(credit), ggas_ge, k - 1, a.timeout_ns);
    for (unsigned i = threadIdx.x; i < stage_words; i += blockDim.x) out[i] = stage_of(me, k, i, first ? 0 : in[i]);
    __syncthreads();
    if (!first && threadIdx.x == 0) ggas_store(ggas_pointer_of_node<uint64_t>(me - 1, credit), k + 1, ggas_release);
    if (!last && s == ggas_ok)
      s = ggas_put_signal_nbi_block(ggas_pointer_of_node<uint32_t>(me + 1, inbox + buffer), out, stage_words,
                                    ggas_pointer_of_node<uint64_t>(me + 1, full), k + 1, ggas_signal_set, a.timeout_ns);
    if (last)
      for (unsigned i = threadIdx.x; i < stage_words; i += blockDim.x) result[i] = take_in(result[i], out[i]);
    __syncthreads();
  }
  report(a, s);
}

inline std::vector<uint32_t> want_pipeline(int nodes, int node, uint64_t rounds) {
  std::vector<uint32_t> all(stage_words);
  for (uint64_t k = 0; k < 3 * rounds && node == nodes - 1; ++k)
    for (unsigned i = 0; i < stage_words; ++i) {
      uint32_t word = 0;
      for (int n = 0; n < nodes; ++n) word = stage_of(n, k, i, word);
      all[i] = take_in(all[i], word);
    }
  return all;
}

}  // namespace ggas::ports
