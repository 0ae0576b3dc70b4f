// SPDX-License-Identifier: Apache-2.0
// Allreduce in a ring, like NCCL's simple protocol: each chunk goes round once to be summed and once more to be
// distributed; a step is a put with signal to the right neighbour.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

constexpr int ring_chunk = 96;  // words

static __global__ void ring_allreduce(args a) {
  const int me = ggas_node(), nodes = ggas_nodes(), right = (me + 1) % nodes, steps = 2 * (nodes - 1);
  const uint64_t words = static_cast<uint64_t>(nodes) * ring_chunk;
  room places{a.memory};
  uint32_t* const sum = bench::own<uint32_t>(places.take<uint32_t>(words));
  const uint64_t inbox = places.take<uint32_t>(2 * static_cast<uint64_t>(steps) * ring_chunk);
  const uint64_t arrived = places.take<uint64_t>(1);
  uint32_t* const result = bench::own<uint32_t>(a.result);
  uint64_t sent = 0;
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) sum[i] = value(me, round, i);
    __syncthreads();
    for (int step = 0; step < steps && s == ggas_ok; ++step) {
      const bool summing = step < nodes - 1;
      uint32_t* const out = sum + modulo(me - step, nodes) * ring_chunk;
      uint32_t* const in = sum + modulo(me - step - 1, nodes) * ring_chunk;
      // Places of a round are used again in the round after the next one: then the right neighbour has left this one.
      const uint64_t slot = inbox + (round % 2 * static_cast<uint64_t>(steps) + static_cast<uint64_t>(step)) *
                                        ring_chunk * sizeof(uint32_t);
      // What has been summed up is overwritten from now on.
      if (step == nodes - 1) s = ggas_quiet_block(ggas_default_queue(), a.timeout_ns);
      if (s == ggas_ok)
        s = ggas_put_signal_nbi_block(ggas_pointer_of_node<uint32_t>(right, slot), out, ring_chunk,
                                      ggas_pointer_of_node<uint64_t>(right, arrived), ++sent, ggas_signal_set,
                                      a.timeout_ns);
      if (s == ggas_ok) s = ggas_wait_until_block(bench::own<uint64_t>(arrived), ggas_ge, sent, a.timeout_ns);
      const uint32_t* const got = bench::own<uint32_t>(slot);
      for (unsigned i = threadIdx.x; i < ring_chunk; i += blockDim.x) in[i] = summing ? in[i] + got[i] : got[i];
      __syncthreads();
    }
    if (s == ggas_ok) s = ggas_quiet_block(ggas_default_queue(), a.timeout_ns);
    for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) result[i] += sum[i];
    __syncthreads();
  }
  report(a, s);
}

// Sums over all rounds and nodes: of every allreduce here.
inline std::vector<uint32_t> sums(int nodes, uint64_t rounds, uint64_t words) {
  std::vector<uint32_t> all(words);
  for (uint64_t i = 0; i < words; ++i)
    for (uint64_t round = 0; round < rounds; ++round)
      for (int n = 0; n < nodes; ++n) all[i] += value(n, round, i);
  return all;
}
inline std::vector<uint32_t> want_ring_allreduce(int nodes, int, uint64_t rounds) {
  return sums(nodes, rounds, static_cast<uint64_t>(nodes) * ring_chunk);
}

}  // namespace ggas::ports
