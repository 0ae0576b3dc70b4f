// SPDX-License-Identifier: Apache-2.0
// allreduce called in a running kernel, by every method, one call behind the other.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct allreduce_args {
  uint64_t elements;
  uint64_t input, output;  // offsets of so many floats
  uint64_t outcomes;       // offset of one outcome a thread
  uint64_t rounds;         // measured ones
  uint64_t seed;
  uint64_t timeout_ns;
};

// Element i of a node: small whole numbers, so that sums are exact.
GGAS_DEVICE float allreduce_input(const allreduce_args& a, int node, uint64_t i) {
  return static_cast<float>(pattern(a.seed, static_cast<uint64_t>(node), i) % 1024);
}

// Static: more than one translation unit has these two, each with a context of its own.
[[maybe_unused]] static __global__ void allreduce_fill(allreduce_args a) {
  for (uint64_t i = global_thread(); i < a.elements; i += global_threads()) {
    own<float>(a.input)[i] = allreduce_input(a, ggas_node(), i);
    own<float>(a.output)[i] = -1;
  }
}

[[maybe_unused]] static __global__ void allreduce_check(allreduce_args a) {
  outcome out{0, 0, 0, ggas_ok};
  for (uint64_t i = global_thread(); i < a.elements; i += global_threads()) {
    float sum = 0;
    for (int node = 0; node < ggas_nodes(); ++node) sum += allreduce_input(a, node, i);
    if (ggas_load(own<float>(a.output) + i) != sum) ++out.errors;
  }
  own<outcome>(a.outcomes)[global_thread()] = out;
}

template <ggas_method Method, bool Grid>
GGAS_DEVICE ggas_status allreduce_once(const allreduce_args& a) {
  float* const to = own<float>(a.output);
  const float* const from = own<float>(a.input);
  return Grid ? ggas_allreduce(to, from, a.elements, ggas_sum, Method, a.timeout_ns)
              : ggas_allreduce_block(to, from, a.elements, ggas_sum, Method, a.timeout_ns);
}

// One round before the clock starts: all nodes are here then.
template <ggas_method Method, bool Grid>
__global__ void GGAS_LAUNCH_BOUNDS(512) allreduce_loop(allreduce_args a) {
  outcome out{0, 0, 0, ggas_ok};
  ggas_status s = allreduce_once<Method, Grid>(a);
  if (s == ggas_ok) s = ggas_barrier(a.timeout_ns);
  out.begin_ns = time_ns();
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) s = allreduce_once<Method, Grid>(a);
  out.end_ns = time_ns();
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

using allreduce_kernel_of = void (*)(allreduce_args);
template <bool Grid>
allreduce_kernel_of allreduce_loop_by(ggas_method method) {
  switch (method) {
    case ggas_one_shot:
      return allreduce_loop<ggas_one_shot, Grid>;
    case ggas_two_shot:
      return allreduce_loop<ggas_two_shot, Grid>;
    case ggas_direct:
      return allreduce_loop<ggas_direct, Grid>;
    default:
      return allreduce_loop<ggas_auto, Grid>;
  }
}

}  // namespace ggas::bench
