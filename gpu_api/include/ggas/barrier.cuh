// SPDX-License-Identifier: Apache-2.0
// Barriers of nodes. Rules and methods: docs/collectives.md, failures: docs/failures.md.
//
// x_block() is called by one block on each member, x_grid() by all blocks of the grid on each member, all of them
// resident at once and equally many everywhere; x(ggas::block{}, ...) and x(ggas::grid{}, ...) are the same. All
// members make the same calls with the same team, n, op, root and method, in the same order. A node takes part in
// one call at a time but for barriers with an index. After any status but ggas_ok and ggas_bad_argument barriers and
// collectives of the node return ggas_broken until the host resets the cluster: so ggas_ok always means that all
// members have arrived. Included by collective.cuh.
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
/// ggas_barrier() by all blocks of the grid of each member, at most 1024 and all resident at once.
/// All blocks get the same status if the time-out is longer than the blocks' times of arrival differ, so not 0. A
/// grid that does not fit on the GPU never passes.
GGAS_DEVICE ggas_status ggas_barrier_grid(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_barrier(ggas::grid{}, timeout_ns, team);
}
/// ggas_barrier() between blocks that give the same `index`, 0 ... ggas_barrier_indices() - 1. Those of different
/// indices are independent, so blocks of a node may be in several at once. An index of a team is used by one block of
/// a member at a time, also by collectives: the block form of one uses 0 ... 15, block b of a grid form b.
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_barrier, ggas::block{}, record_call(this_call, {team}),
            meet_at_index<meeting::barrier>(timeout_ns, team, index));
}

/// Returns when all members have arrived, without a fence.
/// Order: none: earlier accesses, remote or to the own segment, may become visible to other members after it. Its
/// use: members have consumed what they loaded before it (loads whose values were used: GPUs issue in order, though
/// the PTX model alone would not promise it), so it may be overwritten.
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
/// ggas_sync() by all blocks of the grid of each member, at most 1024 and all resident at once.
/// All blocks get the same status if the time-out is longer than the blocks' times of arrival differ, so not 0. A
/// grid that does not fit on the GPU never passes.
GGAS_DEVICE ggas_status ggas_sync_grid(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_sync(ggas::grid{}, timeout_ns, team);
}
/// ggas_sync() between blocks that give the same `index`, 0 ... ggas_barrier_indices() - 1. Those of different
/// indices are independent, so blocks of a node may be in several at once. An index of a team is used by one block of
/// a member at a time, also by collectives: the block form of one uses 0 ... 15, block b of a grid form b.
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_sync, ggas::block{}, record_call(this_call, {team}),
            meet_at_index<meeting::sync>(timeout_ns, team, index));
}

/// Indices of barriers that a team has. Through a NIC as many as there are channels (docs/collectives.md).
GGAS_DEVICE unsigned ggas_barrier_indices() { return ggas::detail::barrier_indices(); }

/// The first half of a barrier with an index. Until the second the block uses neither this index of the team nor a
/// collective that does. Every arrival is waited for once; a failed arrival is reported by the wait.
/// Order: what the block did before is visible to members that have waited.
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
