// SPDX-License-Identifier: Apache-2.0
// Ranks smaller than a GPU: blocks of a resident grid on every node, and their collectives. Guide: docs/ranks.md.
// Includes ggas.cuh.
//
// * A call is made by one block, which is a rank of `ranks`; all ranks make the same calls in the same order with the
//   same n, root, operation and mode.
// * Addresses are symmetric (ggas::ranked): every rank computes those of the others, and no message carries them.
// * A call begins with a block barrier, so it sees the block's stores to its source.
// * ggas_bad_argument: `ranks` that ggas::rank_space has not made; a block that is no rank; n = 0; a root or target
//   that does not exist; memory outside of the segments or misaligned; overlapping destinations of a node's ranks, or
//   source and destination of the rank. After any other failure: ggas_broken, as after any collective.
#pragma once

#include "ggas/ggas.cuh"

#include "ggas/detail/ranks/folds.cuh"

/// Own rank, -1 if the block is none.
GGAS_DEVICE int ggas_rank(const ggas_ranks& ranks) { return ggas::detail::own_rank(ranks); }
/// Number of ranks.
GGAS_DEVICE int ggas_rank_count(const ggas_ranks& ranks) { return ggas::detail::rank_count(ranks); }
/// Node of a rank.
GGAS_DEVICE int ggas_rank_node(const ggas_ranks& ranks, int rank) { return ggas::detail::node_of_rank(ranks, rank); }
/// The ranks of the calling node as a group: for puts, gets and barriers of their blocks.
GGAS_DEVICE ggas::blocks ggas_rank_blocks(const ggas_ranks& ranks) { return ggas::detail::blocks_of(ranks); }
/// Memory of a rank; null where it does not lie in the segment.
template <class T>
GGAS_DEVICE T* ggas_pointer_of_rank(const ggas_ranks& ranks, int rank, ggas::ranked<T> at) {
  return ggas_pointer_of_node<T>(ggas::detail::node_of_rank(ranks, rank),
                                 at.offset + static_cast<uint64_t>(ggas::detail::block_in_node(ranks, rank)) * at.step);
}

/// Returns when all ranks have arrived.
/// Order: every store and put of the ranks before it is visible to every rank after it.
/// Cost: blocks of a node count themselves in its memory, nodes need ceil(log2 nodes) hops.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status ggas_barrier(const ggas_ranks& ranks, uint64_t timeout_ns) {
  GGAS_CALL(ggas_barrier, ggas::block{}, ggas::detail::record_call(this_call, {ranks.nodes}),
            !ggas::detail::ranks_good(ranks)
                ? ggas_bad_argument
                : ggas::detail::meet_ranks<ggas::detail::meeting::barrier>(ranks, timeout_ns));
}

// Data movement: elements have 1, 2, 4, 8 or 16 bytes. Guarantees of the modes: docs/ranks.md.
//
// Each call has two forms. With ggas::ranked addresses data go directly to their destination. With pointers they may
// lie anywhere, for example in GPU memory outside the segment, and go through the buffers of the ranks
// (rank_shape::buffer_bytes). Then ggas_in_none and ggas_out_none are the same as ggas_in_mine and ggas_out_mine,
// source and destination must not overlap, and ggas_bad_argument is also returned if a dynamic buffer is too small.

/// Copies `n` elements of the root's `src` to `dst` of every rank; `src` may be the root's `dst`.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_broadcast(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                       ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, int root,
                                       uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_broadcast, ggas::block{}, record_call(this_call, {ranks.nodes, n, root, 0, 0, sizeof(T)}),
            relocate<broadcast_of_ranks>(this_call, ranks, dst, src, n, root, timeout_ns, mode));
}
/// The same call for any memory of the ranks; the data go through the buffers of the ranks.
/// Order: by the mode; `none` has the effect of `mine`.
/// Cost: as above, and copies out of the buffer; with a static buffer a wait for each packet (docs/ranks.md#schemes).
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_broadcast(const ggas_ranks& ranks, T* dst, const ggas::detail::same_t<T>* src, size_t n,
                                       int root, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_broadcast, ggas::block{}, record_call(this_call, {ranks.nodes, n, root, 0, 0, sizeof(T)}),
            relocate<broadcast_of_ranks>(this_call, ranks, dst, src, n, root, timeout_ns, mode));
}
/// Copies `n` elements from the root's src + i * n to `dst` of rank i, which may be that part of `src` at the root.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_scatter(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                     ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, int root,
                                     uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_scatter, ggas::block{}, record_call(this_call, {ranks.nodes, n, root, 0, 0, sizeof(T)}),
            relocate<scatter_of_ranks>(this_call, ranks, dst, src, n, root, timeout_ns, mode));
}
/// The same call for any memory of the ranks; the data go through the buffers of the ranks.
/// Order: by the mode; `none` has the effect of `mine`.
/// Cost: as above, and copies out of the buffer; with a static buffer a wait for each packet (docs/ranks.md#schemes).
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_scatter(const ggas_ranks& ranks, T* dst, const ggas::detail::same_t<T>* src, size_t n,
                                     int root, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_scatter, ggas::block{}, record_call(this_call, {ranks.nodes, n, root, 0, 0, sizeof(T)}),
            relocate<scatter_of_ranks>(this_call, ranks, dst, src, n, root, timeout_ns, mode));
}
/// Copies `n` elements of `src` of rank i to the root's dst + i * n; the root's `src` may be that part of its `dst`.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_gather(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                    ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, int root,
                                    uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_gather, ggas::block{}, record_call(this_call, {ranks.nodes, n, root, 0, 0, sizeof(T)}),
            relocate<gather_of_ranks>(this_call, ranks, dst, src, n, root, timeout_ns, mode));
}
/// The same call for any memory of the ranks; the data go through the buffers of the ranks.
/// Order: by the mode; `none` has the effect of `mine`.
/// Cost: as above, and copies out of the buffer; with a static buffer a wait for each packet (docs/ranks.md#schemes).
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_gather(const ggas_ranks& ranks, T* dst, const ggas::detail::same_t<T>* src, size_t n,
                                    int root, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_gather, ggas::block{}, record_call(this_call, {ranks.nodes, n, root, 0, 0, sizeof(T)}),
            relocate<gather_of_ranks>(this_call, ranks, dst, src, n, root, timeout_ns, mode));
}
/// Copies `n` elements of `src` of rank i to dst + i * n of every rank; `src` may be the own part of `dst`.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_allgather(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                       ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, uint64_t timeout_ns,
                                       ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_allgather, ggas::block{}, record_call(this_call, {ranks.nodes, n, everybody, 0, 0, sizeof(T)}),
            relocate<allgather_of_ranks>(this_call, ranks, dst, src, n, everybody, timeout_ns, mode));
}
/// The same call for any memory of the ranks; the data go through the buffers of the ranks.
/// Order: by the mode; `none` has the effect of `mine`.
/// Cost: as above, and copies out of the buffer; with a static buffer a wait for each packet (docs/ranks.md#schemes).
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_allgather(const ggas_ranks& ranks, T* dst, const ggas::detail::same_t<T>* src, size_t n,
                                       uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_allgather, ggas::block{}, record_call(this_call, {ranks.nodes, n, everybody, 0, 0, sizeof(T)}),
            relocate<allgather_of_ranks>(this_call, ranks, dst, src, n, everybody, timeout_ns, mode));
}
/// Copies `n` elements from src + j * n of rank i to dst + i * n of rank j.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_alltoall(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                      ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, uint64_t timeout_ns,
                                      ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_alltoall, ggas::block{}, record_call(this_call, {ranks.nodes, n, everybody, 0, 0, sizeof(T)}),
            relocate<alltoall_of_ranks>(this_call, ranks, dst, src, n, everybody, timeout_ns, mode));
}
/// The same call for any memory of the ranks; the data go through the buffers of the ranks.
/// Order: by the mode; `none` has the effect of `mine`.
/// Cost: as above, and copies out of the buffer; with a static buffer a wait for each packet (docs/ranks.md#schemes).
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_alltoall(const ggas_ranks& ranks, T* dst, const ggas::detail::same_t<T>* src, size_t n,
                                      uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_alltoall, ggas::block{}, record_call(this_call, {ranks.nodes, n, everybody, 0, 0, sizeof(T)}),
            relocate<alltoall_of_ranks>(this_call, ranks, dst, src, n, everybody, timeout_ns, mode));
}
/// Copies `n` elements of `src` to `dst` of rank `to`; every rank must be the target of one. Otherwise all ranks return
/// ggas_bad_argument with ggas_in_all and in the checked mode; in other modes a rank that is no target times out.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_permute(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                     ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, int to,
                                     uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_permute, ggas::block{}, record_call(this_call, {ranks.nodes, n, everybody, 0, 0, sizeof(T)}),
            relocate<permute_of_ranks>(this_call, ranks, dst, src, n, to, timeout_ns, mode));
}
/// The same call for any memory of the ranks; the data go through the buffers of the ranks.
/// Order: by the mode; `none` has the effect of `mine`.
/// Cost: as above, and copies out of the buffer; with a static buffer a wait for each packet (docs/ranks.md#schemes).
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_permute(const ggas_ranks& ranks, T* dst, const ggas::detail::same_t<T>* src, size_t n,
                                     int to, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_permute, ggas::block{}, record_call(this_call, {ranks.nodes, n, everybody, 0, 0, sizeof(T)}),
            relocate<permute_of_ranks>(this_call, ranks, dst, src, n, to, timeout_ns, mode));
}
/// The rank's counters of the checked mode so far; zeros without it.
/// Order: none.
/// Cost: accesses of the node's memory.
/// Errors: none; zeros for ranks that no rank_space has made.
GGAS_DEVICE ggas_rank_counts ggas_counts(const ggas_ranks& ranks) {
  using namespace ggas::detail;
  if (!ranks_good(ranks)) return {};
  const rank_call c = open_call(ranks, ggas_in_all);
  return {load_relaxed(c.own_count(ggas::rank_layout::messages)), load_relaxed(c.own_count(ggas::rank_layout::copies)),
          load_relaxed(c.own_count(ggas::rank_layout::peak))};
}

// Reductions of numbers, as those of nodes (reduction.cuh): sums run in the order of ranks.

/// Combines `n` elements from src + i * n of every rank into `dst` of rank i, which may be that part of its `src`.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_reducescatter(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                           ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, ggas_op op,
                                           uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  const auto good = [&] {
    return operation_good<T>(op) &&
           call_places_good(ranks, places_of(dst, src), n, sizeof(T), {1, true}, {rank_count(ranks), true}, true);
  };
  GGAS_CALL(ggas_reducescatter, ggas::block{},
            record_call(this_call, {ranks.nodes, n, everybody, 0, static_cast<uint32_t>(op), sizeof(T)}),
            run_ranks(ranks, mode, {terms_of(this_call, n, element_of_numbers<T>(), everybody, op), false, 0, false},
                      timeout_ns, good, [&](rank_call& c, poll_deadline& end) {
                        return reducescatter_ranks(c, fold_of(ranks, dst, src, n, op), end);
                      }));
}
/// Element i of `dst` becomes the combination of element i of `src` of ranks 0 ... own (ggas_scan_inclusive) or own -
/// 1 (ggas_scan_exclusive: `dst` of rank 0 stays as it is). `dst` may be `src`.
/// Order: by the mode (docs/ranks.md).
/// Cost: one hop between nodes for short vectors, and accesses of the node's memory.
/// Errors: those of all calls of ranks; ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
template <class T>
GGAS_DEVICE ggas_status ggas_scan(const ggas_ranks& ranks, ggas::ranked<T> dst,
                                  ggas::detail::same_t<ggas::ranked<const T>> src, size_t n, ggas_op op,
                                  ggas_scan_kind kind, uint64_t timeout_ns, ggas_sync_mode mode = ggas_in_all) {
  using namespace ggas::detail;
  const auto good = [&] {
    return operation_good<T>(op) && static_cast<unsigned>(kind) <= ggas_scan_exclusive &&
           call_places_good(ranks, places_of(dst, src), n, sizeof(T), {1, true}, {1, true}, true);
  };
  GGAS_CALL(
      ggas_scan, ggas::block{},
      record_call(this_call, {ranks.nodes, n, everybody, kind, static_cast<uint32_t>(op), sizeof(T)}),
      run_ranks(ranks, mode,
                {terms_of(this_call, n, element_of_numbers<T>(), everybody, op, kind * ggas::call_terms::exclusive),
                 false, 0, false},
                timeout_ns, good, [&](rank_call& c, poll_deadline& end) {
                  return scan_ranks(c, fold_of(ranks, dst, src, n, op), kind, end);
                }));
}
