// SPDX-License-Identifier: Apache-2.0
// UPC's names for the collectives of nodes, by one block of every node (docs/upc.md).
//
// * `n` is the number of bytes of a part.
// * Distributed objects, shared [n] char[n * THREADS] and the like, are named by their first element, on thread 0; a
//   shared [] object lies on any thread. Objects do not overlap. Otherwise ggas_bad_argument at all threads.
// * The mode combines an in and an out value: in_all and out_all are barriers; with mine and none a call behaves as the
//   collective of GGAS.
// * Each wait has `timeout_ns`.
#pragma once

#include "ggas/detail/ranks/handle.hpp"
#include "ggas/upc.cuh"

namespace ggas::upc::detail {

constexpr ggas_sync_mode all_sync = ggas_in_all | ggas_out_all;

// call(dst, src, n) with the addresses of the calling node, by words if alignment permits.
template <class Call>
GGAS_DEVICE ggas_status collective(const shared_void& dst, const shared_const_void& src, uint64_t n, bool good,
                                   ggas_sync_mode mode, uint64_t timeout_ns, Call call) {
  constexpr unsigned not_in_all = ggas_in_mine | ggas_in_none, not_out_all = ggas_out_mine | ggas_out_none;
  if (!good || n == 0 || mode > (not_in_all | not_out_all)) return ggas_bad_argument;
  ggas_status s = mode & not_in_all ? ggas_ok : ggas_barrier_block(timeout_ns);
  if (s != ggas_ok) return s;
  const int me = ggas_node();
  if ((dst.offset() | src.offset() | n) % 8 == 0) {
    s = call(ggas_pointer_of_node<uint64_t>(me, dst.offset()), ggas_pointer_of_node<uint64_t>(me, src.offset()), n / 8);
  } else {
    s = call(ggas_pointer_of_node<char>(me, dst.offset()), ggas_pointer_of_node<char>(me, src.offset()), n);
  }
  return s == ggas_ok && !(mode & not_out_all) ? ggas_barrier_block(timeout_ns) : s;
}

enum class relocation { broadcast, scatter, gather, gather_all, exchange, permute };

// A collective of UPC, for words or for bytes. `root` is the thread of the side that is shared []. It is written
// without a generic lambda, because NVRTC does not accept these.
template <relocation What>
struct relocation_of {
  int root;
  uint64_t timeout_ns;
  shared_ptr<int> perm = {};
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    if constexpr (What == relocation::broadcast) {
      return ggas_broadcast_block(to, from, count, root, timeout_ns);
    } else if constexpr (What == relocation::scatter) {
      return ggas_scatter_block(to, from, count, root, timeout_ns);
    } else if constexpr (What == relocation::gather) {
      return ggas_gather_block(to, from, count, root, timeout_ns);
    } else if constexpr (What == relocation::gather_all) {
      return ggas_allgather_block(to, from, count, timeout_ns);
    } else if constexpr (What == relocation::exchange) {
      return ggas_alltoall_block(to, from, count, timeout_ns);
    } else {
      const int target = *(perm + static_cast<int64_t>(MYTHREAD));
      return ggas_permute_block(to, from, count, target, timeout_ns);
    }
  }
};

// Distributed sides are named by their first element, on thread 0.
template <class P>
GGAS_DEVICE bool is_first(const P& p) {
  return p.thread() == 0 && p.phase() == 0;
}
template <relocation What>
GGAS_DEVICE ggas_status relocate(const shared_void& dst, const shared_const_void& src, uint64_t n, uint64_t timeout_ns,
                                 ggas_sync_mode mode, const shared_ptr<int>& perm = {}) {
  constexpr bool to_one = What == relocation::gather;
  constexpr bool from_one = What == relocation::broadcast || What == relocation::scatter;
  const bool good = (to_one || is_first(dst)) && (from_one || is_first(src)) && perm.thread() == 0;
  const int root = static_cast<int>(to_one ? dst.thread() : src.thread());
  return collective(dst, src, n, good, mode, timeout_ns, relocation_of<What>{root, timeout_ns, perm});
}

}  // namespace ggas::upc::detail

/// Copies shared [] char[n] to every part of shared [n] char[n * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_broadcast(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                          uint64_t n, uint64_t timeout_ns,
                                          ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  using namespace ggas::upc::detail;
  return relocate<relocation::broadcast>(dst, src, n, timeout_ns, mode);
}
/// Copies block i of shared [] char[n * THREADS] to part i of shared [n] char[n * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_scatter(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                        uint64_t n, uint64_t timeout_ns,
                                        ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  using namespace ggas::upc::detail;
  return relocate<relocation::scatter>(dst, src, n, timeout_ns, mode);
}
/// Copies part i of shared [n] char[n * THREADS] to block i of shared [] char[n * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_gather(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                       uint64_t n, uint64_t timeout_ns,
                                       ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  using namespace ggas::upc::detail;
  return relocate<relocation::gather>(dst, src, n, timeout_ns, mode);
}
/// Copies all parts of shared [n] char[n * THREADS] to each part of shared [n * THREADS] char[n * THREADS * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_gather_all(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                           uint64_t n, uint64_t timeout_ns,
                                           ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  using namespace ggas::upc::detail;
  return relocate<relocation::gather_all>(dst, src, n, timeout_ns, mode);
}
/// Copies block j of part i to block i of part j; both are shared [n * THREADS] char[n * THREADS * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_exchange(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                         uint64_t n, uint64_t timeout_ns,
                                         ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  using namespace ggas::upc::detail;
  return relocate<relocation::exchange>(dst, src, n, timeout_ns, mode);
}
/// Copies part i of shared [n] char[n * THREADS] to part perm[i]; `perm` is a shared int[THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_permute(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                        const ggas::upc::shared_ptr<int>& perm, uint64_t n, uint64_t timeout_ns,
                                        ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  using namespace ggas::upc::detail;
  return relocate<relocation::permute>(dst, src, n, timeout_ns, mode, perm);
}
