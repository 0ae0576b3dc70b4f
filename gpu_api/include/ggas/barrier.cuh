// SPDX-License-Identifier: Apache-2.0
// Barriers of nodes. Rules and methods: docs/collectives.md, failures: docs/failures.md.
//
// * x_block() is called by one block on each member, x_grid() by all blocks of the grid on each member. The blocks of a
//   grid are resident at once, and every member has the same number. x(ggas::block{}, ...) and x(ggas::grid{}, ...) are
//   the same.
// * All members make the same calls with the same team, n, op, root and method, in the same order.
// * A node takes part in one call at a time, except in barriers with an index.
// * After any status except ggas_ok and ggas_bad_argument barriers and collectives of the node return ggas_broken until
//   the host resets the cluster: so ggas_ok always means that all members have arrived.
//
// Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/block_barrier.cuh"
#include "ggas/detail/collective/blocks_barrier.cuh"
#include "ggas/detail/collective/channel.cuh"
#include "ggas/detail/sync/barrier_grid.cuh"
#include "ggas/detail/sync/forms.cuh"
#include "ggas/team.cuh"

/// Returns when all members have arrived.
/// Order: every store and put of the callers before it is visible to every caller after it.
/// Cost: a fence and ceil(log2 members) hops; with an index one hop.
/// Errors: ggas_bad_argument: `team` is no team or does not contain the caller; ggas_timed_out, ggas_peer_error,
/// ggas_broken, ggas_aborted. A call that failed cannot be repeated.
template <ggas::detail::a_barrier_group G>
GGAS_DEVICE ggas_status ggas_barrier(const G& group, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_barrier, group, record_call(this_call, {team}), meet<meeting::barrier>(group, team, timeout_ns));
}
/// ggas_barrier() by one block of each member.
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_barrier(ggas::block{}, timeout_ns, team);
}
/// ggas_barrier() by all blocks of the grid of each member, at most 1024 and all resident at once. All blocks get the
/// same status if the time-out is longer than the difference of the blocks' arrival times, so not 0. A grid that does
/// not fit on the GPU never passes.
GGAS_DEVICE ggas_status ggas_barrier_grid(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_barrier(ggas::grid{}, timeout_ns, team);
}
/// ggas_barrier() between blocks that pass the same `index`, 0 ... ggas_barrier_indices() - 1. Barriers of different
/// indices are independent, so blocks of a node may be in several at once. Only one block of a member may use an index
/// of a team at a time. Collectives use indices, too: the block form 0 ... 15, block b of a grid form b.
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_barrier, ggas::block{}, record_call(this_call, {team}),
            meet_at_index<meeting::barrier>(timeout_ns, team, index));
}

/// Returns when all members have arrived, without a fence.
/// Order: none: earlier accesses, remote or to the own segment, may become visible to other members later. It is useful
/// if members have consumed the data that they loaded, so that these may be overwritten (loads whose values were used:
/// GPUs issue in order, though the PTX model alone does not guarantee it).
/// Cost: as ggas_barrier(), without the fence.
/// Errors: as ggas_barrier().
template <ggas::detail::a_barrier_group G>
GGAS_DEVICE ggas_status ggas_sync(const G& group, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_sync, group, record_call(this_call, {team}), meet<meeting::sync>(group, team, timeout_ns));
}
/// ggas_sync() by one block of each member.
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_sync(ggas::block{}, timeout_ns, team);
}
/// ggas_sync() by all blocks of the grid of each member, at most 1024 and all resident at once. All blocks get the same
/// status if the time-out is longer than the difference of the blocks' arrival times; so it must not be 0. A grid that
/// does not fit on the GPU never passes.
GGAS_DEVICE ggas_status ggas_sync_grid(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_sync(ggas::grid{}, timeout_ns, team);
}
/// ggas_sync() between blocks that pass the same `index`, 0 ... ggas_barrier_indices() - 1. Barriers of different
/// indices are independent, so blocks of a node may be in several at once. Only one block of a member may use an index
/// of a team at a time. Collectives use indices, too: the block form 0 ... 15, block b of a grid form b.
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_sync, ggas::block{}, record_call(this_call, {team}),
            meet_at_index<meeting::sync>(timeout_ns, team, index));
}

/// Number of barrier indices of a team. Through a NIC it is the number of channels (docs/collectives.md).
GGAS_DEVICE unsigned ggas_barrier_indices() { return ggas::detail::barrier_indices(); }

/// The first half of a barrier with an index. Until the second half the block must not use this index of the team, nor
/// a collective that uses it. Every arrival needs one wait; the wait reports a failed arrival.
/// Order: earlier accesses of the block are visible to members that have waited.
GGAS_DEVICE ggas_arrival ggas_barrier_arrive_block(const ggas_team& team = ggas_world(), unsigned index = 0) {
  return ggas::detail::arrive<ggas::detail::meeting::barrier>(index, team);
}
/// The second half of a barrier with an index: returns when all members have arrived.
/// Order: as ggas_barrier().
/// Cost: one hop after the last arrival.
/// Errors: as ggas_barrier().
GGAS_DEVICE ggas_status ggas_barrier_wait_block(ggas_arrival& arrival, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_barrier_wait, ggas::block{}, record_call(this_call, {arrival.at.team}),
            await<meeting::barrier>(arrival, timeout_ns));
}
