// SPDX-License-Identifier: Apache-2.0
// Barriers and reductions in a loop on every node.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct barrier_args {
  uint64_t mark;      // offset of a word the node before this one stores to
  uint64_t outcomes;  // offset of one outcome
  uint64_t samples;   // offset of `rounds` durations in ns
  uint64_t rounds;
  uint64_t checks;  // rounds that prove the barrier, before the measured ones
  uint64_t timeout_ns;
  uint64_t batch = 1;  // calls of a round, where one is short next to the resolution of the clock
};

enum class meeting { barrier, sync };

// The caller: a single block, a grid, or a single block in a team of all nodes, which does not use the NIC's unit.
enum class by { block, grid, team };

template <meeting M, by By>
GGAS_DEVICE ggas_status meet(uint64_t timeout_ns) {
  if constexpr (By == by::team) {
    const ggas_team all = ggas_team_strided(1, 0, 1, ggas_nodes());
    return M == meeting::sync ? ggas_sync_block(timeout_ns, all) : ggas_barrier_block(timeout_ns, all);
  }
  constexpr bool grid = By == by::grid;
  if constexpr (M == meeting::sync) return grid ? ggas_sync_grid(timeout_ns) : ggas_sync_block(timeout_ns);
  return grid ? ggas_barrier_grid(timeout_ns) : ggas_barrier_block(timeout_ns);
}

// A barrier must make the neighbour's earlier store visible. The second barrier keeps the neighbour from storing the
// next number before this one was read.
template <by By>
GGAS_DEVICE ggas_status check_barrier(const barrier_args& a, uint64_t& errors) {
  ggas_status s = ggas_ok;
  for (uint64_t k = 1; k <= a.checks && s == ggas_ok; ++k) {
    if (global_thread() == 0) ggas_store(ggas_pointer_of_node<uint64_t>((ggas_node() + 1) % ggas_nodes(), a.mark), k);
    s = meet<meeting::barrier, By>(a.timeout_ns);
    if (s == ggas_ok && ggas_load(own<uint64_t>(a.mark)) != k) ++errors;
    if (s == ggas_ok) s = meet<meeting::barrier, By>(a.timeout_ns);
  }
  return s;
}

template <meeting M, by By>
GGAS_DEVICE ggas_status barrier_rounds(const barrier_args& a, ggas_status s, outcome& out) {
  uint64_t before = out.begin_ns = time_ns();
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    for (uint64_t i = 0; i < a.batch && s == ggas_ok; ++i) s = meet<M, By>(a.timeout_ns);
    const uint64_t now = time_ns();
    if (global_thread() == 0) own<uint64_t>(a.samples)[round] = now - before;
    before = now;
  }
  out.end_ns = before;
  return s;
}

template <meeting M, by By>
__global__ void GGAS_LAUNCH_BOUNDS(1024) barrier_loop(barrier_args a) {
  outcome out{0, 0, 0, ggas_ok};
  out.status = barrier_rounds<M, By>(a, check_barrier<By>(a, out.errors), out);
  own<outcome>(a.outcomes)[global_thread()] = out;
}

struct reduce_args {
  uint64_t input, output;  // offsets of `elements` floats, and room for one more of each node
  uint64_t part;           // offset of the sums of a node's part, if the vector is divided
  uint64_t elements;
  uint64_t outcomes;  // offset of one outcome
  uint64_t samples;   // offset of `rounds` durations in ns
  uint64_t rounds;    // measured ones; one more goes before as a warm-up
  uint64_t expected;  // offset of `elements` floats: the sums, less what the rounds add
  uint64_t timeout_ns;
  ggas_method method;
  bool to_root;  // node 0 alone gets the sums
};

// Every element grows by one each round, so the input of a round differs from that of the one before, and a stale value
// is detected.
GGAS_DEVICE void next_input(const reduce_args& a) {
  float* const in = own<float>(a.input);
  for (uint64_t i = detail::thread_rank(); i < a.elements; i += detail::thread_count()) in[i] += 1.0f;
  __syncthreads();
}

GGAS_DEVICE uint64_t count_wrong(const reduce_args& a, uint64_t round) {
  if (a.to_root && ggas_node() != 0) return 0;
  const float added = static_cast<float>((round + 1) * static_cast<uint64_t>(ggas_nodes()));
  uint64_t wrong = 0;
  for (uint64_t i = detail::thread_rank(); i < a.elements; i += detail::thread_count()) {
    if (ggas_load(own<float>(a.output) + i) != own<float>(a.expected)[i] + added) ++wrong;
  }
  return wrong;
}

// The original's all-to-all: each node reduces a part, and the root gathers the parts. The last one may be too long.
GGAS_DEVICE ggas_status reduce_by_parts(const reduce_args& a) {
  const uint64_t nodes = static_cast<uint64_t>(ggas_nodes()), each = (a.elements + nodes - 1) / nodes;
  float* const part = own<float>(a.part);
  const ggas_status s = ggas_reducescatter_block(part, own<float>(a.input), each, ggas_sum, a.timeout_ns);
  return s != ggas_ok ? s : ggas_gather_block(own<float>(a.output), part, each, 0, a.timeout_ns);
}

GGAS_DEVICE ggas_status reduce_once(const reduce_args& a) {
  if (a.to_root && a.method == ggas_two_shot) return reduce_by_parts(a);
  float* const to = own<float>(a.output);
  const float* const from = own<float>(a.input);
  if (a.to_root) return ggas_reduce_block(to, from, a.elements, ggas_sum, 0, a.method, a.timeout_ns);
  return ggas_allreduce_block(to, from, a.elements, ggas_sum, a.method, a.timeout_ns);
}

// A barrier before each round lets all nodes begin together; it is not part of the measured time.
__global__ void reduce_loop(reduce_args a) {
  outcome out{0, 0, 0, ggas_ok};
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round <= a.rounds && s == ggas_ok; ++round) {
    next_input(a);
    s = ggas_barrier_block(a.timeout_ns);
    const uint64_t before = time_ns();
    if (round == 0) out.begin_ns = before;
    if (s == ggas_ok) s = reduce_once(a);
    const uint64_t now = time_ns();
    __syncthreads();
    if (round > 0 && detail::thread_rank() == 0) own<uint64_t>(a.samples)[round - 1] = now - before;
    if (s == ggas_ok) out.errors += count_wrong(a, round);
    out.end_ns = now;
  }
  out.status = s;
  own<outcome>(a.outcomes)[detail::thread_rank()] = out;
}

}  // namespace ggas::bench
