// SPDX-License-Identifier: Apache-2.0
// broadcast, allgather, alltoall and reduce called in a running kernel, one behind the other.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

enum class moved { broadcast, allgather, alltoall, reduce };

struct exchange_args {
  moved what;
  uint64_t elements;  // of a part
  uint64_t input;     // offset of `elements` floats, of an alltoall for every node
  uint64_t output;    // of `elements` floats, of allgather and alltoall for every node
  uint64_t outcomes;  // offset of one outcome a thread
  uint64_t rounds;    // measured ones
  uint64_t seed;
  uint64_t timeout_ns;
};

// Element i that node `from` has for node `to`: small, so that sums are exact.
GGAS_HOST_DEVICE inline float exchanged(const exchange_args& a, int from, int to, uint64_t i) {
  const auto between = static_cast<uint64_t>(from) * 1024 + static_cast<uint64_t>(a.what == moved::alltoall ? to : 0);
  return static_cast<float>(pattern(a.seed, between, i) % 1024);
}

// All blocks of a grid call, or one block.
template <moved What, bool Grid>
GGAS_DEVICE ggas_status exchange_once(const exchange_args& a) {
  float* const to = own<float>(a.output);
  const float* const from = own<float>(a.input);
  const uint64_t n = a.elements, limit = a.timeout_ns;
  if constexpr (What == moved::broadcast)
    return Grid ? ggas_broadcast(to, from, n, 0, limit) : ggas_broadcast_block(to, from, n, 0, limit);
  if constexpr (What == moved::allgather)
    return Grid ? ggas_allgather(to, from, n, limit) : ggas_allgather_block(to, from, n, limit);
  if constexpr (What == moved::alltoall)
    return Grid ? ggas_alltoall(to, from, n, limit) : ggas_alltoall_block(to, from, n, limit);
  if constexpr (Grid) return ggas_reduce(to, from, n, ggas_sum, 0, ggas_auto, limit);
  return ggas_reduce_block(to, from, n, ggas_sum, 0, ggas_auto, limit);
}

// Parts of the input, and of the output that are checked.
GGAS_DEVICE int parts_in(const exchange_args& a) { return a.what == moved::alltoall ? ggas_nodes() : 1; }
GGAS_DEVICE int parts_out(const exchange_args& a) {
  if (a.what == moved::reduce) return ggas_node() == 0 ? 1 : 0;
  return a.what == moved::broadcast ? 1 : ggas_nodes();
}

GGAS_DEVICE float expected_element(const exchange_args& a, int part, uint64_t i) {
  if (a.what != moved::reduce) return exchanged(a, part, ggas_node(), i);
  float sum = 0;
  for (int node = 0; node < ggas_nodes(); ++node) sum += exchanged(a, node, 0, i);
  return sum;
}

__global__ void exchange_fill(exchange_args a) {
  for (int to = 0; to < parts_in(a); ++to) {
    for (uint64_t i = global_thread(); i < a.elements; i += global_threads())
      own<float>(a.input)[static_cast<uint64_t>(to) * a.elements + i] = exchanged(a, ggas_node(), to, i);
  }
  for (int part = 0; part < parts_out(a); ++part) {
    for (uint64_t i = global_thread(); i < a.elements; i += global_threads())
      own<float>(a.output)[static_cast<uint64_t>(part) * a.elements + i] = -1;
  }
}

// One round before the clock starts: all nodes are here then.
template <moved What, bool Grid>
__global__ void GGAS_LAUNCH_BOUNDS(512) exchange_loop(exchange_args a) {
  outcome out{0, 0, 0, ggas_ok};
  ggas_status s = exchange_once<What, Grid>(a);
  if (s == ggas_ok) s = ggas_barrier(a.timeout_ns);
  out.begin_ns = time_ns();
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) s = exchange_once<What, Grid>(a);
  out.end_ns = time_ns();
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

__global__ void exchange_check(exchange_args a) {
  outcome out{0, 0, 0, ggas_ok};
  for (int part = 0; part < parts_out(a); ++part) {
    for (uint64_t i = global_thread(); i < a.elements; i += global_threads()) {
      const float got = ggas_load(own<float>(a.output) + static_cast<uint64_t>(part) * a.elements + i);
      if (got != expected_element(a, part, i)) ++out.errors;
    }
  }
  own<outcome>(a.outcomes)[global_thread()] = out;
}

using exchange_kernel = void (*)(exchange_args);
template <bool Grid>
exchange_kernel exchange_loop_of(moved what) {
  switch (what) {
    case moved::broadcast:
      return exchange_loop<moved::broadcast, Grid>;
    case moved::allgather:
      return exchange_loop<moved::allgather, Grid>;
    case moved::alltoall:
      return exchange_loop<moved::alltoall, Grid>;
    case moved::reduce:
      return exchange_loop<moved::reduce, Grid>;
  }
  return nullptr;
}

}  // namespace ggas::bench
