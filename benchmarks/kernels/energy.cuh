// SPDX-License-Identifier: Apache-2.0
// Calls in sequence on every node, long enough to measure their energy.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

enum class repeated { barrier, alltoall, allreduce, put };

struct energy_args {
  uint64_t elements;  // floats: of the vector, of an alltoall for each node
  uint64_t parts;     // vectors at `from` and at `to`
  uint64_t from, to;
  uint64_t outcomes;  // offset of one outcome a thread
  uint64_t calls;
  uint64_t timeout_ns;
};

// Element i that a node has for every member: small, so that sums are exact.
GGAS_HOST_DEVICE inline float energy_element(int node, uint64_t i) {
  return static_cast<float>((static_cast<uint64_t>(node) * 7 + i) % 128);
}

// By one block; a put by all blocks of the grid, to the next node.
template <repeated What>
GGAS_DEVICE ggas_status energy_call(const energy_args& a) {
  float *const to = own<float>(a.to), *const from = own<float>(a.from);
  if constexpr (What == repeated::barrier) return ggas_barrier_block(a.timeout_ns);
  if constexpr (What == repeated::alltoall) return ggas_alltoall_block(to, from, a.elements, a.timeout_ns);
  if constexpr (What == repeated::allreduce)
    return ggas_allreduce_block(to, from, a.elements, ggas_sum, ggas_one_shot, a.timeout_ns);
  float* const next = ggas_pointer_of_node<float>((ggas_node() + 1) % ggas_nodes(), a.to);
  return ggas_put_nbi_grid(next, from, a.elements, a.timeout_ns);
}

__global__ void energy_fill(energy_args a) {
  for (uint64_t i = global_thread(); i < a.elements * a.parts; i += global_threads()) {
    own<float>(a.from)[i] = energy_element(ggas_node(), i % a.elements);
    own<float>(a.to)[i] = -1;
  }
}

template <repeated What>
__global__ void GGAS_LAUNCH_BOUNDS(512) energy_loop(energy_args a) {
  ggas_status s = ggas_ok;
  for (uint64_t i = 0; i < a.calls && s == ggas_ok; ++i) s = energy_call<What>(a);
  if constexpr (What == repeated::put) {
    const ggas_status arrived = ggas_quiet_block();
    if (s == ggas_ok) s = arrived;
  }
  own<outcome>(a.outcomes)[global_thread()] = {0, 0, 0, static_cast<uint64_t>(s)};
}

template <repeated What>
GGAS_DEVICE float energy_expected(uint64_t part, uint64_t i) {
  if (What == repeated::alltoall) return energy_element(static_cast<int>(part), i);
  if (What == repeated::put) return energy_element((ggas_node() + ggas_nodes() - 1) % ggas_nodes(), i);
  float sum = 0;
  for (int node = 0; node < ggas_nodes(); ++node) sum += energy_element(node, i);
  return sum;
}

template <repeated What>
__global__ void energy_check(energy_args a) {
  outcome out{0, 0, 0, ggas_ok};
  for (uint64_t i = global_thread(); What != repeated::barrier && i < a.elements * a.parts; i += global_threads())
    out.errors += ggas_load(own<float>(a.to) + i) != energy_expected<What>(i / a.elements, i % a.elements);
  own<outcome>(a.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
