// SPDX-License-Identifier: Apache-2.0
// UPC's names for the collectives of nodes, by one block of every node (docs/upc.md). `n` bytes a part. Distributed
// objects, shared [n] char[n * THREADS] and the like, are named by their first element, on thread 0; a shared [] one
// lies on any thread. Not so: ggas_bad_argument at all threads. They do not overlap. The mode is one of each half:
// in_all and out_all are barriers; mine and none are what the collectives of GGAS do. Each wait has `timeout_ns`.
#pragma once

#include "ggas/detail/ranks/handle.hpp"
#include "ggas/upc.cuh"

namespace ggas::upc::detail {

constexpr ggas_sync_mode all_sync = ggas_in_all | ggas_out_all;

// call(dst, src, n) with the places of the calling node, as words where that goes.
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

// The calls, for words and for bytes. No generic lambdas: NVRTC does not take them.
struct broadcast_from {
  int root;
  uint64_t timeout_ns;
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    return ggas_broadcast_block(to, from, count, root, timeout_ns);
  }
};
struct scatter_from {
  int root;
  uint64_t timeout_ns;
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    return ggas_scatter_block(to, from, count, root, timeout_ns);
  }
};
struct gather_to {
  int root;
  uint64_t timeout_ns;
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    return ggas_gather_block(to, from, count, root, timeout_ns);
  }
};
struct gather_to_all {
  uint64_t timeout_ns;
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    return ggas_allgather_block(to, from, count, timeout_ns);
  }
};
struct exchange_with_all {
  uint64_t timeout_ns;
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    return ggas_alltoall_block(to, from, count, timeout_ns);
  }
};
struct permute_by {
  shared_ptr<int> perm;
  uint64_t timeout_ns;
  template <class T>
  GGAS_DEVICE ggas_status operator()(T* to, const T* from, uint64_t count) const {
    const int target = *(perm + static_cast<int64_t>(MYTHREAD));
    return ggas_permute_block(to, from, count, target, timeout_ns);
  }
};

}  // namespace ggas::upc::detail

/// Copies shared [] char[n] to every part of shared [n] char[n * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_broadcast(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                          uint64_t n, uint64_t timeout_ns,
                                          ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  return ggas::upc::detail::collective(dst, src, n, dst.thread() == 0, mode, timeout_ns,
                                       ggas::upc::detail::broadcast_from{static_cast<int>(src.thread()), timeout_ns});
}
/// Copies block i of shared [] char[n * THREADS] to part i of shared [n] char[n * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_scatter(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                        uint64_t n, uint64_t timeout_ns,
                                        ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  return ggas::upc::detail::collective(dst, src, n, dst.thread() == 0, mode, timeout_ns,
                                       ggas::upc::detail::scatter_from{static_cast<int>(src.thread()), timeout_ns});
}
/// Copies part i of shared [n] char[n * THREADS] to block i of shared [] char[n * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_gather(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                       uint64_t n, uint64_t timeout_ns,
                                       ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  return ggas::upc::detail::collective(dst, src, n, src.thread() == 0, mode, timeout_ns,
                                       ggas::upc::detail::gather_to{static_cast<int>(dst.thread()), timeout_ns});
}
/// Copies all parts of shared [n] char[n * THREADS] to each part of shared [n * THREADS] char[n * THREADS * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_gather_all(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                           uint64_t n, uint64_t timeout_ns,
                                           ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  return ggas::upc::detail::collective(dst, src, n, dst.thread() == 0 && src.thread() == 0, mode, timeout_ns,
                                       ggas::upc::detail::gather_to_all{timeout_ns});
}
/// Copies block j of part i to block i of part j; both are shared [n * THREADS] char[n * THREADS * THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_exchange(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                         uint64_t n, uint64_t timeout_ns,
                                         ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  return ggas::upc::detail::collective(dst, src, n, dst.thread() == 0 && src.thread() == 0, mode, timeout_ns,
                                       ggas::upc::detail::exchange_with_all{timeout_ns});
}
/// Copies part i of shared [n] char[n * THREADS] to part perm[i]; `perm` is a shared int[THREADS].
/// Order: by the mode (docs/upc.md).
/// Cost: as the collective of nodes, and a barrier for each half of the mode that is `all`.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status upc_all_permute(const ggas::upc::shared_void& dst, const ggas::upc::shared_const_void& src,
                                        const ggas::upc::shared_ptr<int>& perm, uint64_t n, uint64_t timeout_ns,
                                        ggas_sync_mode mode = ggas::upc::detail::all_sync) {
  return ggas::upc::detail::collective(dst, src, n, dst.thread() == 0 && src.thread() == 0 && perm.thread() == 0, mode,
                                       timeout_ns, ggas::upc::detail::permute_by{perm, timeout_ns});
}
