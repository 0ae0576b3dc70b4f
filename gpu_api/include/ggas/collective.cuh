// SPDX-License-Identifier: Apache-2.0
// Collectives of the device API. Rules and methods: docs/collectives.md. Included by ggas.cuh.
//
// x_block is called by one block on each member, x_grid by all blocks of the grid on each member, all of them resident
// at once and equally many everywhere; x(ggas::block{}, ...) and x(ggas::grid{}, ...) are the same. All members call
// with the same team, n, op, root and method, in the same order. After anything but ggas_ok and ggas_bad_argument
// barriers and collectives of the node return ggas_broken, until the host resets the cluster: so ok always means that
// everybody has come (docs/failures.md).
#pragma once

#include "ggas/team.cuh"

#include "ggas/detail/collective/allreduce.cuh"
#include "ggas/detail/collective/alltoall.cuh"
#include "ggas/detail/collective/block_barrier.cuh"
#include "ggas/detail/collective/blocks_barrier.cuh"
#include "ggas/detail/collective/broadcast.cuh"
#include "ggas/detail/collective/channel.cuh"
#include "ggas/detail/collective/guard.cuh"
#include "ggas/detail/collective/permute.cuh"
#include "ggas/detail/collective/reducescatter.cuh"
#include "ggas/detail/collective/rooted.cuh"
#include "ggas/detail/collective/scan.cuh"
#include "ggas/detail/sync/barrier_grid.cuh"
#include "ggas/detail/sync/forms.cuh"

// ---- teams, barrier and sync. `team` must contain the caller and be the same on every member (ggas_bad_argument: it
// does not, or is no team). _block: one block on each member. _grid: every block of the grid on each member, at most
// 1024 and all resident at once (a grid that does not fit can never pass); all blocks get the same status if the
// time-out is longer than the blocks come apart (so not 0). A node takes part in one call at a time; where another
// block makes the next one, all its threads are synchronised with the block before. A call that failed cannot be
// repeated.
//
// barrier: every store and put of the callers before it is visible to every caller after it.
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  GGAS_CALL(ggas_barrier, ggas::block{}, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet_block<ggas::detail::meeting::barrier>(team, timeout_ns));
}
GGAS_DEVICE ggas_status ggas_barrier_grid(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  GGAS_CALL(ggas_barrier, ggas::grid{}, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet_grid<ggas::detail::meeting::barrier>(team, timeout_ns));
}
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status ggas_barrier(const G& group, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  GGAS_CALL(ggas_barrier, group, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet<ggas::detail::meeting::barrier>(group, team, timeout_ns));
}
// sync: nobody leaves before everybody has arrived, and nothing else: no fence, so accesses before it, remote or to the
// own segment, may become visible to other members after it. What it is good for: members have consumed what they
// loaded before it (loads whose values were used; GPUs issue in order, the PTX model alone would not promise it), so it
// may be overwritten.
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  GGAS_CALL(ggas_sync, ggas::block{}, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet_block<ggas::detail::meeting::sync>(team, timeout_ns));
}
GGAS_DEVICE ggas_status ggas_sync_grid(uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  GGAS_CALL(ggas_sync, ggas::grid{}, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet_grid<ggas::detail::meeting::sync>(team, timeout_ns));
}
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status ggas_sync(const G& group, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  GGAS_CALL(ggas_sync, group, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet<ggas::detail::meeting::sync>(group, team, timeout_ns));
}

// Barriers of one block of each member that have a number, 0 ... ggas_barrier_indices() - 1: those of different numbers
// have nothing to do with each other, so blocks of a node may be in several at once. A number of a team is used by one
// block of a member at a time, and collectives use them, too: the block form of one uses 0 ... 15, block b of a grid
// form b. Behind a NIC they are as many as there are channels (docs/collectives.md). One hop; a barrier has a fence
// before it.
GGAS_DEVICE unsigned ggas_barrier_indices() { return ggas::detail::barrier_indices(); }
GGAS_DEVICE ggas_status ggas_barrier_block(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  GGAS_CALL(ggas_barrier, ggas::block{}, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet_at_index<ggas::detail::meeting::barrier>(timeout_ns, team, index));
}
GGAS_DEVICE ggas_status ggas_sync_block(uint64_t timeout_ns, const ggas_team& team, unsigned index) {
  GGAS_CALL(ggas_sync, ggas::block{}, ggas::detail::record_call(this_call, {team}),
            ggas::detail::meet_at_index<ggas::detail::meeting::sync>(timeout_ns, team, index));
}
// The two halves of a barrier. What the block did before it arrives is visible to members that have waited. Between the
// two the block uses neither this number of the team nor a collective that does. Every arrival is waited for once;
// what arrives badly says so in the wait.
GGAS_DEVICE ggas_arrival ggas_barrier_arrive_block(const ggas_team& team = ggas_world(), unsigned index = 0) {
  return ggas::detail::arrive<ggas::detail::meeting::barrier>(index, team);
}
GGAS_DEVICE ggas_status ggas_barrier_wait_block(ggas_arrival& arrival, uint64_t timeout_ns) {
  GGAS_CALL(ggas_barrier_wait, ggas::block{}, ggas::detail::record_call(this_call, {arrival.at.team}),
            ggas::detail::await<ggas::detail::meeting::barrier>(arrival, timeout_ns));
}

// ---- data to everybody. Elements of 1, 2, 4, 8 or 16 bytes, aligned to their size; src and dst lie in the own segment
// and need not be at the same offset on every member; they must not overlap but as said. Every member calls with the
// same n, root and team; the grid forms with the same number of blocks (docs/collectives.md says what of a grid's data
// must be complete). A call begins without a block barrier: what threads of the block have stored to src, and loaded
// from dst, must be behind a __syncthreads() for all of them. On ggas_ok the result is visible to the calling block,
// src may be overwritten; nothing is promised about other data.
//
// From the call on other members may store into dst. What this kernel itself has stored there before must be behind a
// ggas_barrier, or behind that __syncthreads() and a ggas_fence() that every thread makes after it, or an old value may
// land on top of a new one; so, by the letter of the PTX model, what it has loaded from there
// (docs/memory-model.md#destinations-of-collectives). Short parts need nothing of it: do not build on a size.
//
// broadcast: n elements of member `root` (a rank) go to dst of every member; src counts on the root only, where it may
// be dst.
GGAS_COLLECTIVE(ggas_broadcast,
                (P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n, int root, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_broadcast(address_of(dst), src.address, n, root, team)), (team, n, root, 0, 0, bytes),
                broadcast(address_of(dst), src.address, n, root, team, part.block, part.blocks, timeout_ns))
// allgather: n elements of member i go to dst + i * n of every member. src may be the own part of dst.
GGAS_COLLECTIVE(ggas_allgather,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_allgather(dst.address, address_of(src), n, team)), (team, n, everybody, 0, 0, bytes),
                spread_parts(dst.address, address_of(src), n, 0, team, part.block, part.blocks, timeout_ns))
// alltoall: n elements from src + j * n of member i go to dst + i * n of member j.
GGAS_COLLECTIVE(ggas_alltoall,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_alltoall(dst.address, address_of(src), n, team)), (team, n, everybody, 0, 0, bytes),
                spread_parts(dst.address, address_of(src), n, n, team, part.block, part.blocks, timeout_ns))

// permute: n elements of src go to dst of member `to`; every member is the target of one. Where that is not so all
// members, and all blocks of their grids, return ggas_bad_argument, nothing is stored, and the next call works.
GGAS_COLLECTIVE(ggas_permute,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int to, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_permute(dst.address, address_of(src), n, team)), (team, n, everybody, 0, 0, bytes),
                permute_parts(dst.address, address_of(src), n, to, team, part.block, part.blocks, timeout_ns))

// ---- gather: n elements of member i go to dst + i * n of member `root`, elsewhere dst is not used and may be null.
// src may be the own part of dst. scatter: n elements from src + i * n of member `root` go to dst of member i; src
// counts on the root only, where dst may be its own part. Rules and elements as above.
GGAS_COLLECTIVE(ggas_gather,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int root, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_gather(dst.address, address_of(src), n, root, team)), (team, n, root, 0, 0, bytes),
                move_rooted<direction::to_root>(dst.address, address_of(src), n, root, team, part.block, part.blocks,
                                                timeout_ns))
GGAS_COLLECTIVE(ggas_scatter,
                (P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n, int root, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_scatter(address_of(dst), src.address, n, root, team)), (team, n, root, 0, 0, bytes),
                move_rooted<direction::from_root>(address_of(dst), src.address, n, root, team, part.block, part.blocks,
                                                  timeout_ns))

// ---- reductions of n elements of every member into dst: of everybody, or of the root, a rank of the team (elsewhere
// dst is not used and may be null). Elements are types of 1, 2, 4 or 8 bytes with +, * and <: integers, float, double,
// and on GPUs __half and __nv_bfloat16; each sum is rounded to the type. src and dst lie in the own segment, aligned to
// the element, at any offset; they are the same vector or do not overlap. Sums run in the order of ranks, by ggas_tree
// and ggas_by_nic in that of their trees, whatever the form: results are the same bits at all members and every time.
// The result is visible to the block, with the grid forms to everybody behind the kernel; no promise about other data.
// ggas_bad_argument: op, root, method or pointer; a caller outside the team; direct or push where the window is not
// memory; direct, push or read of more than 64 members; gather or all_gather of a team or a grid; by_nic where
// no NIC has the unit, of a team, more than 256 bytes, elements of 1 or 2 bytes, or products.
GGAS_COLLECTIVE(ggas_allreduce,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op, ggas_method method,
                 uint64_t timeout_ns, const ggas_team& team = ggas_world()),
                (facts_of_reduction(ggas::call_id::ggas_allreduce, dst.address, address_of(src), n, op, everybody,
                                    method, team)),
                (team, n, everybody, method, op, bytes),
                reduce_by(piece_of_numbers(dst.address, address_of(src), n, op, everybody), method, part.block,
                          part.blocks, team, timeout_ns))
// By gather, one_shot, direct, read, tree, by_nic or auto.
GGAS_COLLECTIVE(ggas_reduce,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op, int root, ggas_method method,
                 uint64_t timeout_ns, const ggas_team& team = ggas_world()),
                (facts_of_reduction(ggas::call_id::ggas_reduce, dst.address, address_of(src), n, op, root, method,
                                    team)),
                (team, n, root, method, op, bytes),
                root < 0 ? ggas_bad_argument
                         : reduce_by(piece_of_numbers(dst.address, address_of(src), n, op, root), method, part.block,
                                     part.blocks, team, timeout_ns))

// reducescatter: n elements from src + i * n of everybody are combined into dst of member i, in the order of ranks. dst
// may be the own part of src; else as the reductions above.
GGAS_COLLECTIVE(ggas_reducescatter,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op, uint64_t timeout_ns,
                 const ggas_team& team = ggas_world()),
                (facts_of_reduction(ggas::call_id::ggas_reducescatter, dst.address, address_of(src), n, op, everybody,
                                    ggas_auto, team)),
                (team, n, everybody, 0, op, bytes),
                reducescatter(piece_of_numbers(dst.address, address_of(src), n, op, everybody, n), part.block,
                              part.blocks, team, timeout_ns))

// scan: element i of dst becomes the combination of element i of src of members 0 ... own rank (ggas_scan_inclusive) or
// own rank - 1 (ggas_scan_exclusive: dst of member 0 stays as it is), in the order of ranks. One hop for each slot's
// worth of elements of a block; for vectors longer than that the grid form.
GGAS_COLLECTIVE(ggas_scan,
                (ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op, ggas_scan_kind kind,
                 uint64_t timeout_ns, const ggas_team& team = ggas_world()),
                (facts_of_scan(dst.address, address_of(src), n, op, kind, team)), (team, n, everybody, 0, op, bytes),
                scan(piece_of_numbers(dst.address, address_of(src), n, op, everybody), kind, part.block, part.blocks,
                     team, timeout_ns))
