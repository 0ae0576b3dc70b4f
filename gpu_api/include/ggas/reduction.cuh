// SPDX-License-Identifier: Apache-2.0
// Reductions, with the rules of collective.cuh.
//
// * Elements are types of 1, 2, 4 or 8 bytes with +, * and <: integers, float, double, and on GPUs __half and
//   __nv_bfloat16; each sum is rounded to the type. `src` and `dst` are the same vector or do not overlap.
// * Sums are computed in the order of ranks, by ggas_tree and ggas_by_nic in that of their trees, in every form:
//   results have the same bits at all members and every time.
// * Unsuitable methods are ggas_bad_argument: direct and push where the window is not memory; direct, push and read of
//   more than 64 members; gather and all_gather of a team or a grid; by_nic where no NIC has the unit, of a team, of
//   more than 256 bytes, of elements of 1 or 2 bytes, or of products.
//
// Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce.cuh"
#include "ggas/detail/collective/channel.cuh"
#include "ggas/detail/collective/guard.cuh"
#include "ggas/detail/collective/reducescatter.cuh"
#include "ggas/detail/collective/scan.cuh"
#include "ggas/detail/sync/forms.cuh"
#include "ggas/team.cuh"

/// Combines `n` elements of all members into `dst` of every member.
/// Order: the result is visible to the calling block, and with the grid form to all blocks after the kernel.
/// Cost: one hop for short vectors; by method: docs/collectives.md.
/// Errors: those of a collective; ggas_bad_argument also for an operation, root or method that does not suit.
template <ggas::detail::a_collective_group G, ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_allreduce(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                       ggas_op op, ggas_method method, uint64_t timeout_ns,
                                       const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(
      facts_of_reduction(ggas::call_id::ggas_allreduce, dst.address, address_of(src), n, op, everybody, method, team))
  GGAS_CALL(ggas_allreduce, group,
            record_call(this_call, {team, n, everybody, method, op, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(reduce_by(piece_of_numbers(dst.address, address_of(src), n, op, everybody), method, part.block,
                                   part.blocks, team, timeout_ns)));
}
/// ggas_allreduce() by all threads of a block, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_allreduce_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                             ggas_method method, uint64_t timeout_ns,
                                             const ggas_team& team = ggas_world()) {
  return ggas_allreduce(ggas::block{}, dst, src, n, op, method, timeout_ns, team);
}
/// ggas_allreduce() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_allreduce_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                            ggas_method method, uint64_t timeout_ns,
                                            const ggas_team& team = ggas_world()) {
  return ggas_allreduce(ggas::grid{}, dst, src, n, op, method, timeout_ns, team);
}

/// Combines `n` elements of all members into `dst` of member `root`, a rank of the team; elsewhere `dst` is not used
/// and may be null. Methods: gather, one_shot, direct, read, tree, by_nic, auto.
/// Order: the result is visible to the calling block, and with the grid form to all blocks after the kernel.
/// Cost: one hop for short vectors.
/// Errors: those of a collective; ggas_bad_argument also for an operation, root or method that does not suit.
template <ggas::detail::a_collective_group G, ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_reduce(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                    ggas_op op, int root, ggas_method method, uint64_t timeout_ns,
                                    const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_reduction(ggas::call_id::ggas_reduce, dst.address, address_of(src), n, op, root, method, team))
  GGAS_CALL(ggas_reduce, group, record_call(this_call, {team, n, root, method, op, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(root < 0 ? ggas_bad_argument
                                  : reduce_by(piece_of_numbers(dst.address, address_of(src), n, op, root), method,
                                              part.block, part.blocks, team, timeout_ns)));
}
/// ggas_reduce() by all threads of a block, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_reduce_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                          int root, ggas_method method, uint64_t timeout_ns,
                                          const ggas_team& team = ggas_world()) {
  return ggas_reduce(ggas::block{}, dst, src, n, op, root, method, timeout_ns, team);
}
/// ggas_reduce() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_reduce_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                         int root, ggas_method method, uint64_t timeout_ns,
                                         const ggas_team& team = ggas_world()) {
  return ggas_reduce(ggas::grid{}, dst, src, n, op, root, method, timeout_ns, team);
}

/// Combines `n` elements from src + i * n of all members into `dst` of member i, which may be the own part of `src`.
/// Order: the result is visible to the calling block, and with the grid form to all blocks after the kernel.
/// Cost: one hop for short vectors.
/// Errors: those of a collective; ggas_bad_argument also for an operation, root or method that does not suit.
template <ggas::detail::a_collective_group G, ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_reducescatter(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n,
                                           ggas_op op, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_reduction(ggas::call_id::ggas_reducescatter, dst.address, address_of(src), n, op, everybody,
                                ggas_auto, team))
  GGAS_CALL(ggas_reducescatter, group, record_call(this_call, {team, n, everybody, 0, op, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(reducescatter(piece_of_numbers(dst.address, address_of(src), n, op, everybody, n), part.block,
                                       part.blocks, team, timeout_ns)));
}
/// ggas_reducescatter() by all threads of a block, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_reducescatter_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                                 uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_reducescatter(ggas::block{}, dst, src, n, op, timeout_ns, team);
}
/// ggas_reducescatter() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_reducescatter_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                                uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_reducescatter(ggas::grid{}, dst, src, n, op, timeout_ns, team);
}

/// Element i of `dst` becomes the combination of element i of `src` of members 0 ... own rank (ggas_scan_inclusive)
/// or own rank - 1 (ggas_scan_exclusive: `dst` of member 0 stays as it is).
/// Order: the result is visible to the calling block, and with the grid form to all blocks after the kernel.
/// Cost: one hop for each slot of elements of a block; for longer vectors the grid form.
/// Errors: those of a collective; ggas_bad_argument also for an operation, root or method that does not suit.
template <ggas::detail::a_collective_group G, ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_scan(const G& group, ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                  ggas_scan_kind kind, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  using namespace ggas::detail;
  const call_part part = part_of(group);
  GGAS_GUARD(facts_of_scan(dst.address, address_of(src), n, op, kind, team))
  GGAS_CALL(ggas_scan, group, record_call(this_call, {team, n, everybody, 0, op, sizeof(ggas::element_at<P>)}),
            GGAS_GUARDED(scan(piece_of_numbers(dst.address, address_of(src), n, op, everybody), kind, part.block,
                              part.blocks, team, timeout_ns)));
}
/// ggas_scan() by all threads of a block, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_scan_block(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                        ggas_scan_kind kind, uint64_t timeout_ns,
                                        const ggas_team& team = ggas_world()) {
  return ggas_scan(ggas::block{}, dst, src, n, op, kind, timeout_ns, team);
}
/// ggas_scan() by all blocks of a grid, with equal arguments.
template <ggas::detail::a_number_place P>
GGAS_DEVICE ggas_status ggas_scan_grid(ggas::place_for<ggas::element_at<P>> dst, P src, size_t n, ggas_op op,
                                       ggas_scan_kind kind, uint64_t timeout_ns, const ggas_team& team = ggas_world()) {
  return ggas_scan(ggas::grid{}, dst, src, n, op, kind, timeout_ns, team);
}
