// SPDX-License-Identifier: Apache-2.0
// Collectives called in a running kernel, in sequence, each call with other data than the ones before it.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

enum class moved { broadcast, allgather, alltoall, reduce, allreduce, reducescatter, gather, scatter, permute, scan };

// many_in: each node has a part for every other one. many_out: each node receives a part from every member. Roots are
// node 0; a permute sends to the next node.
GGAS_HOST_DEVICE constexpr bool many_in(moved what) {
  return what == moved::alltoall || what == moved::reducescatter || what == moved::scatter;
}
GGAS_HOST_DEVICE constexpr bool many_out(moved what) {
  return what == moved::allgather || what == moved::alltoall || what == moved::gather;
}

struct exchange_args {
  moved what;
  uint64_t elements;  // of a part
  uint64_t input;     // offset of so many floats as elements_in() says
  uint64_t output;    // of `elements` floats, where many_out() for every node
  uint64_t outcomes;  // offset of one outcome a thread
  uint64_t rounds;    // measured ones
  uint64_t seed;
  uint64_t timeout_ns;
  uint64_t checks = 0;             // rounds before, whose results are all checked
  ggas_method method = ggas_auto;  // of reduce and allreduce
};

// Calls take their input from different places in turn, 128 bytes apart, so that data left by an earlier call are not
// mistaken for a result.
constexpr uint64_t input_places = 8, place_elements = 32;
GGAS_HOST_DEVICE constexpr uint64_t place_of(uint64_t round) { return round % input_places * place_elements; }
GGAS_HOST_DEVICE constexpr uint64_t elements_in(moved what, uint64_t elements, int nodes) {
  return elements * (many_in(what) ? static_cast<uint64_t>(nodes) : 1) + (input_places - 1) * place_elements;
}

// What stands at a place of a node's input: small, so that sums are exact.
GGAS_HOST_DEVICE constexpr float exchanged(const exchange_args& a, int node, uint64_t at) {
  return static_cast<float>(pattern(a.seed, static_cast<uint64_t>(node), at) % 1024);
}

// All blocks of a grid call, or one block. Of a broadcast also one for a team of all nodes, which no NIC helps.
template <moved What, bool Grid, bool Team>
GGAS_DEVICE ggas_status exchange_once(const exchange_args& a, uint64_t round) {
  float* const to = own<float>(a.output);
  const float* const from = own<float>(a.input) + place_of(round);
  const uint64_t n = a.elements, limit = a.timeout_ns;
  if constexpr (What == moved::broadcast && Team)
    return ggas_broadcast_block(to, from, n, 0, limit, ggas_team_strided(1, 0, 1, ggas_nodes()));
  if constexpr (What == moved::broadcast)
    return Grid ? ggas_broadcast_grid(to, from, n, 0, limit) : ggas_broadcast_block(to, from, n, 0, limit);
  if constexpr (What == moved::allgather)
    return Grid ? ggas_allgather_grid(to, from, n, limit) : ggas_allgather_block(to, from, n, limit);
  if constexpr (What == moved::alltoall)
    return Grid ? ggas_alltoall_grid(to, from, n, limit) : ggas_alltoall_block(to, from, n, limit);
  if constexpr (What == moved::reduce)
    return Grid ? ggas_reduce_grid(to, from, n, ggas_sum, 0, a.method, limit)
                : ggas_reduce_block(to, from, n, ggas_sum, 0, a.method, limit);
  if constexpr (What == moved::reducescatter)
    return Grid ? ggas_reducescatter_grid(to, from, n, ggas_sum, limit)
                : ggas_reducescatter_block(to, from, n, ggas_sum, limit);
  if constexpr (What == moved::gather)
    return Grid ? ggas_gather_grid(to, from, n, 0, limit) : ggas_gather_block(to, from, n, 0, limit);
  if constexpr (What == moved::scatter)
    return Grid ? ggas_scatter_grid(to, from, n, 0, limit) : ggas_scatter_block(to, from, n, 0, limit);
  if constexpr (What == moved::permute) {
    const int next = (ggas_node() + 1) % ggas_nodes();
    return Grid ? ggas_permute_grid(to, from, n, next, limit) : ggas_permute_block(to, from, n, next, limit);
  }
  if constexpr (What == moved::scan)
    return Grid ? ggas_scan_grid(to, from, n, ggas_sum, ggas_scan_inclusive, limit)
                : ggas_scan_block(to, from, n, ggas_sum, ggas_scan_inclusive, limit);
  return Grid ? ggas_allreduce_grid(to, from, n, ggas_sum, a.method, limit)
              : ggas_allreduce_block(to, from, n, ggas_sum, a.method, limit);
}

// Parts of the output.
GGAS_DEVICE int parts_out(const exchange_args& a) {
  const bool none = (a.what == moved::reduce || a.what == moved::gather) && ggas_node() != 0;
  return none ? 0 : many_out(a.what) ? ggas_nodes() : 1;
}

GGAS_DEVICE float expected_element(const exchange_args& a, int part, uint64_t i, uint64_t round) {
  const uint64_t mine = many_in(a.what) ? static_cast<uint64_t>(ggas_node()) * a.elements : 0;
  const uint64_t at = mine + place_of(round) + i;
  if (a.what == moved::broadcast || a.what == moved::scatter) return exchanged(a, 0, at);
  if (many_out(a.what)) return exchanged(a, part, at);
  if (a.what == moved::permute) return exchanged(a, (ggas_node() + ggas_nodes() - 1) % ggas_nodes(), at);
  float sum = 0;
  const int last = a.what == moved::scan ? ggas_node() + 1 : ggas_nodes();
  for (int node = 0; node < last; ++node) sum += exchanged(a, node, at);
  return sum;
}

// By all threads of the grid: elements of the result that are wrong.
GGAS_DEVICE uint64_t count_wrong(const exchange_args& a, uint64_t round) {
  uint64_t wrong = 0;
  for (int part = 0; part < parts_out(a); ++part) {
    const float* const got = own<float>(a.output) + static_cast<uint64_t>(part) * a.elements;
    for (uint64_t i = global_thread(); i < a.elements; i += global_threads())
      wrong += ggas_load(got + i) != expected_element(a, part, i, round);
  }
  return wrong;
}

// By all threads of the grid: the destination holds nothing that could pass for a result.
GGAS_DEVICE void forget_output(const exchange_args& a) {
  for (int part = 0; part < parts_out(a); ++part) {
    for (uint64_t i = global_thread(); i < a.elements; i += global_threads())
      own<float>(a.output)[static_cast<uint64_t>(part) * a.elements + i] = -1;
  }
}

// Static, as all kernels here: more than one translation unit has them, each with a context of its own.
[[maybe_unused]] static __global__ void exchange_fill(exchange_args a) {
  const uint64_t n = elements_in(a.what, a.elements, ggas_nodes());
  for (uint64_t i = global_thread(); i < n; i += global_threads())
    own<float>(a.input)[i] = exchanged(a, ggas_node(), i);
  forget_output(a);
}

// First come `checks` rounds whose results are all checked and then overwritten, then one round that synchronises all
// nodes, then the measured rounds. There is one call site, because with two the code would take longer to run and to
// compile.
template <moved What, bool Grid, bool Team = false>
static __global__ void GGAS_LAUNCH_BOUNDS(512) exchange_loop(exchange_args a) {
  outcome out{0, 0, 0, ggas_ok};
  ggas_status s = ggas_ok;
  GGAS_NO_UNROLL
  for (uint64_t round = 0; round <= a.checks + a.rounds && s == ggas_ok; ++round) {
    s = exchange_once<What, Grid, Team>(a, round);
    if (round > a.checks || s != ggas_ok) continue;
    GGAS_NO_UNROLL
    for (bool again = round < a.checks;; again = false) {  // a barrier before the check and one after it
      s = ggas_barrier_grid(a.timeout_ns);
      if (!again || s != ggas_ok) break;
      out.errors += count_wrong(a, round);
      forget_output(a);
    }
    out.begin_ns = time_ns();
  }
  out.end_ns = time_ns();
  out.status = s;
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// The result of the last call of the loop.
[[maybe_unused]] static __global__ void exchange_check(exchange_args a) {
  outcome out{0, 0, 0, ggas_ok};
  out.errors = count_wrong(a, a.checks + a.rounds);
  own<outcome>(a.outcomes)[global_thread()] = out;
}

// Adds what is wrong with the result of a call to the outcomes.
[[maybe_unused]] static __global__ void exchange_count(exchange_args a, uint64_t round) {
  own<outcome>(a.outcomes)[global_thread()].errors += count_wrong(a, round);
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
    case moved::reducescatter:
      return exchange_loop<moved::reducescatter, Grid>;
    case moved::gather:
      return exchange_loop<moved::gather, Grid>;
    case moved::scatter:
      return exchange_loop<moved::scatter, Grid>;
    case moved::permute:
      return exchange_loop<moved::permute, Grid>;
    case moved::scan:
      return exchange_loop<moved::scan, Grid>;
    case moved::allreduce:
      break;  // not here: a program that measures this one alone would contain all
  }
  return nullptr;
}

}  // namespace ggas::bench
