// SPDX-License-Identifier: Apache-2.0
// Collectives that move data. Rules and methods: docs/collectives.md, failures: docs/failures.md.
//
// * x_block() is called by one block on each member, x_grid() by all blocks of the grid on each member. The blocks of a
//   grid are resident at once, and every member has the same number. x(ggas::block{}, ...) and x(ggas::grid{}, ...) are
//   the same.
// * All members make the same calls with the same team, n, op, root and method, in the same order.
// * A node takes part in one call at a time, except in barriers with an index.
// * After any status except ggas_ok and ggas_bad_argument barriers and collectives of the node return ggas_broken until
//   the host resets the cluster: so ggas_ok always means that all members have arrived.
// * Elements have 1, 2, 4, 8 or 16 bytes and are aligned to their size. `src` and `dst` lie in the own segment, need
//   not be at the same offset on every member, and do not overlap unless a call says so.
// * A call begins without a block barrier: stores of the block's threads to `src`, and their loads from `dst`, must
//   come before a __syncthreads() of all of them. A call orders no other data.
// * Other members may store to `dst` from the call on. Earlier stores of this kernel to `dst` must come before a
//   ggas_barrier(), or before that __syncthreads() and a ggas_fence() that every thread makes after it. Otherwise an
//   old value may overwrite a new one. In the PTX model the same is true of earlier loads from `dst`
//   (docs/memory-model.md#destinations-of-collectives). Short parts need none of this, but do not depend on a size.
#pragma once

#include "ggas/barrier.cuh"
#include "ggas/detail/collective/alltoall.cuh"
#include "ggas/detail/collective/broadcast.cuh"
#include "ggas/detail/collective/channel.cuh"
#include "ggas/detail/collective/guard.cuh"
#include "ggas/detail/collective/permute.cuh"
#include "ggas/detail/collective/rooted.cuh"
#include "ggas/detail/sync/forms.cuh"
#include "ggas/reduction.cuh"
#include "ggas/team.cuh"

/// Copies `n` elements of member `root`, a rank of the team, to `dst` of every member. `src` is used on the root only,
/// where it may be `dst`.
/// Order: the result is visible to the calling block, and `src` may be overwritten.
/// Cost: one hop for short vectors; the root does not wait for the others.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_broadcast(const G& group, P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n,
                                       int root, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_broadcast(address_of(dst), src.address, n, root, team))
  GGAS_CALL(ggas_broadcast, group, record_call(this_call, {team, n, root, 0, 0, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(broadcast(address_of(dst), src.address, n, root, team, part.block, part.blocks, timeout_ns)));
}
/// ggas_broadcast() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_broadcast_block(P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n, int root,
                                             uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_broadcast(ggas::block{}, dst, src, n, root, timeout_ns, team);
}
/// ggas_broadcast() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_broadcast_grid(P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n, int root,
                                            uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_broadcast(ggas::grid{}, dst, src, n, root, timeout_ns, team);
}

/// Copies `n` elements of member i to dst + i * n of every member. `src` may be the own part of `dst`.
/// Order: the result is visible to the calling block, and `src` may be overwritten.
/// Cost: one hop for short vectors.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_allgather(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                       uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_allgather(dst.address, address_of(src), n, team))
  GGAS_CALL(ggas_allgather, group, record_call(this_call, {team, n, everybody, 0, 0, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(spread_parts(dst.address, address_of(src), n, 0, team, part.block, part.blocks, timeout_ns)));
}
/// ggas_allgather() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_allgather_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                             uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_allgather(ggas::block{}, dst, src, n, timeout_ns, team);
}
/// ggas_allgather() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_allgather_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                            uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_allgather(ggas::grid{}, dst, src, n, timeout_ns, team);
}

/// Copies `n` elements from src + j * n of member i to dst + i * n of member j.
/// Order: the result is visible to the calling block, and `src` may be overwritten.
/// Cost: one hop for short vectors.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_alltoall(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                      uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_alltoall(dst.address, address_of(src), n, team))
  GGAS_CALL(ggas_alltoall, group, record_call(this_call, {team, n, everybody, 0, 0, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(spread_parts(dst.address, address_of(src), n, n, team, part.block, part.blocks, timeout_ns)));
}
/// ggas_alltoall() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_alltoall_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                            uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_alltoall(ggas::block{}, dst, src, n, timeout_ns, team);
}
/// ggas_alltoall() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_alltoall_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                           uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_alltoall(ggas::grid{}, dst, src, n, timeout_ns, team);
}

/// Copies `n` elements of `src` to `dst` of member `to`; every member is the target of one.
/// Order: the result is visible to the calling block, and `src` may be overwritten.
/// Cost: one hop for short vectors.
/// Errors: those of ggas_alltoall(); ggas_bad_argument at all members and all blocks, with nothing stored, if two
/// members name the same target.
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_permute(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int to,
                                     uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_permute(dst.address, address_of(src), n, team))
  GGAS_CALL(
      ggas_permute, group, record_call(this_call, {team, n, everybody, 0, 0, sizeof(ggas::element_at<P>)}),
      GGAS_GUARDED(permute_parts(dst.address, address_of(src), n, to, team, part.block, part.blocks, timeout_ns)));
}
/// ggas_permute() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_permute_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int to,
                                           uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_permute(ggas::block{}, dst, src, n, to, timeout_ns, team);
}
/// ggas_permute() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_permute_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int to,
                                          uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_permute(ggas::grid{}, dst, src, n, to, timeout_ns, team);
}

/// Copies `n` elements of member i to dst + i * n of member `root`; elsewhere `dst` is not used and may be null.
/// `src` may be the own part of `dst`.
/// Order: the result is visible to the calling block, and `src` may be overwritten.
/// Cost: one hop for short vectors.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_gather(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int root,
                                    uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_gather(dst.address, address_of(src), n, root, team))
  GGAS_CALL(ggas_gather, group, record_call(this_call, {team, n, root, 0, 0, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(move_rooted<direction::to_root>(dst.address, address_of(src), n, root, team, part.block,
                                                         part.blocks, timeout_ns)));
}
/// ggas_gather() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_gather_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int root,
                                          uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_gather(ggas::block{}, dst, src, n, root, timeout_ns, team);
}
/// ggas_gather() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_gather_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, int root,
                                         uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_gather(ggas::grid{}, dst, src, n, root, timeout_ns, team);
}

/// Copies `n` elements from src + i * n of member `root` to `dst` of member i. `src` is used on the root only; there
/// `dst` may be the own part of `src`.
/// Order: the result is visible to the calling block, and `src` may be overwritten.
/// Cost: one hop for short vectors.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <ggas::detail::a_collective_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_scatter(const G& group, P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n,
                                     int root, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_scatter(address_of(dst), src.address, n, root, team))
  GGAS_CALL(ggas_scatter, group, record_call(this_call, {team, n, root, 0, 0, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(move_rooted<direction::from_root>(address_of(dst), src.address, n, root, team, part.block,
                                                           part.blocks, timeout_ns)));
}
/// ggas_scatter() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_scatter_block(P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n, int root,
                                           uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_scatter(ggas::block{}, dst, src, n, root, timeout_ns, team);
}
/// ggas_scatter() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_scatter_grid(P dst, ggas::place_for<const ggas::element_at<P>> src, size_t n, int root,
                                          uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_scatter(ggas::grid{}, dst, src, n, root, timeout_ns, team);
}
