// SPDX-License-Identifier: Apache-2.0
// Numbers of ranks, and the barrier of ranks: a count among the blocks of a node, dissemination among the nodes.
// Included by ranks.cuh.
#pragma once

#include "ggas/detail/collective/blocks_barrier.cuh"
#include "ggas/detail/plan.hpp"
#include "ggas/detail/ranks/handle.hpp"

namespace ggas::detail {

// The ranks of a node as a group.
GGAS_DEVICE blocks_group blocks_of(const ggas_ranks& r) {
  return {r.first, r.blocks, own_word(r.place + rank_layout::meeting)};
}
GGAS_DEVICE int block_in_node(const ggas_ranks& r, int rank) {
  return static_cast<int>(static_cast<unsigned>(rank) % r.blocks);
}
GGAS_DEVICE int node_of_rank(const ggas_ranks& r, int rank) {
  return ggas_team_node(r.nodes, static_cast<int>(static_cast<unsigned>(rank) / r.blocks));
}
GGAS_DEVICE int own_rank(const ggas_ranks& r) {
  return ggas_team_rank(r.nodes) * static_cast<int>(r.blocks) + static_cast<int>(block_rank() - r.first);
}

// The native barrier costs each call of ranks registers: kernels of nvcc have it where they ask for it.
#if defined(__CUDACC__) && !defined(GGAS_NATIVE_BARRIER)
GGAS_DEVICE bool meets_natively(const ggas_ranks&) { return false; }
GGAS_DEVICE bool native_barrier_good(const ggas_ranks& r) { return r.native_barrier == 0; }
#else
GGAS_DEVICE bool meets_natively(const ggas_ranks& r) { return r.native_barrier != 0; }
GGAS_DEVICE bool native_barrier_good(const ggas_ranks& r) { return r.native_barrier < barrier_indices(); }
#endif

// A value that no host made, or a block that is no rank of it.
GGAS_DEVICE bool ranks_good(const ggas_ranks& r) {
  const ggas_team& t = r.nodes;
  const bool members = t.first >= 0 && t.size > 0 && t.stride > 0 &&
                       t.first + static_cast<int64_t>(t.size - 1) * t.stride < ggas_nodes() && ggas_team_rank(t) >= 0;
  const bool sizes = r.blocks != 0 && r.blocks <= rank_layout::most_blocks && r.slot_bytes != 0 &&
                     r.slot_bytes % 16 == 0 && r.credits != 0 && r.place % rank_layout::line == 0 &&
                     r.buffer_bytes % rank_layout::line == 0 && native_barrier_good(r);
  return members && sizes && static_cast<uint64_t>(t.size) * r.blocks <= rank_layout::most_ranks &&
         r.place >= device_context().reserved && fits_segment(r.place, layout_of(r).bytes()) &&
         blocks_good(blocks_of(r));
}

// Called by the first thread of a node's first rank. In step k of barrier n the word of round k of a node is set to n;
// it has one writer. A number in a word means that its writer has arrived, and so have all nodes whose words the writer
// had received before.
template <meeting M>
GGAS_DEVICE ggas_status disseminate(const ggas_ranks& r, uint64_t number, poll_deadline& end) {
  const dissemination_plan plan{r.nodes.size};
  const int me = ggas_team_rank(r.nodes);
  GGAS_NO_UNROLL
  for (int step = 0; step < plan.steps(); ++step) {
    const plan_step s = plan.at(me, step);
    const uint64_t round = r.place + rank_layout::round(step);
    if (M == meeting::barrier) fence_acq_rel_system();
    store_relaxed(word_of(ggas_team_node(r.nodes, s.to), round), number);
    uint64_t seen;
    if (!await_word<M>(own_word(round), number, seen, end)) return timed_out_for(s.from * static_cast<int>(r.blocks));
  }
  return ggas_ok;
}

// Stores that a NIC may still have under way are waited for.
template <meeting M>
GGAS_DEVICE ggas_status meet_nodes(const ggas_ranks& r, poll_deadline& end) {
  uint64_t* const ended = own_word(r.place + rank_layout::meetings);
  const uint64_t number = load_own(ended) + 1;
  __syncthreads();
  ggas_status s = ggas_ok;
  if (is_first_thread()) {
    if (M == meeting::barrier && nic_page()) s = settle_stores();
    if (s == ggas_ok) s = disseminate<M>(r, number, end);
    if (s == ggas_ok) store_own(ended, number);
  }
  return block_status(s, waited_for::ranks, ended, number);
}

template <meeting M>
GGAS_DEVICE ggas_status meet_ranks(const ggas_ranks& r, uint64_t timeout_ns) {
  const auto nodes = [&](poll_deadline& end) {
    return meets_natively(r) ? meet_at_index<M>(timeout_ns, r.nodes, r.native_barrier) : meet_nodes<M>(r, end);
  };
  if (r.nodes.size == 1) return meet_around<M>(blocks_of(r), false, timeout_ns, nodes);
  if (r.blocks > 1) return meet_around<M>(blocks_of(r), true, timeout_ns, nodes);
  poll_deadline end(timeout_ns);
  return nodes(end);
}

}  // namespace ggas::detail
