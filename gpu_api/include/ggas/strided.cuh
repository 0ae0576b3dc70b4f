// SPDX-License-Identifier: Apache-2.0
// Put and get with strides, in elements of 1, 2, 4 or 8 bytes. Included by rma.cuh, which has the rules of all its
// calls.
#pragma once

#include "ggas/detail/one_sided/strided.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Puts element i of `n` from local[i * local_stride] to remote[i * remote_stride].
/// Order: complete on return, as ggas_put().
/// Cost: a store for each element, and a fence; through a NIC a descriptor for each element.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput(const G& group, P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                  ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                  const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return iput(group, until::complete, address_of(remote), local, remote_stride, local_stride, n, timeout_ns, q);
}
/// ggas_iput() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput(P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                  ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                  const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iput(ggas::thread{}, remote, local, remote_stride, local_stride, n, timeout_ns, q);
}
/// ggas_iput() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput_warp(P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                       ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iput(ggas::warp{}, remote, local, remote_stride, local_stride, n, timeout_ns, q);
}
/// ggas_iput() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput_block(P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                        ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                        const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iput(ggas::block{}, remote, local, remote_stride, local_stride, n, timeout_ns, q);
}

/// Posts ggas_iput(). `local` must not change until ggas_quiet_local().
/// Order: as ggas_put_nbi().
/// Cost: a store for each element; through a NIC a descriptor for each.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput_nbi(const G& group, P remote, const ggas::element_at<P>* local,
                                      ptrdiff_t remote_stride, ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return iput(group, until::posted, address_of(remote), local, remote_stride, local_stride, n, timeout_ns, q);
}
/// ggas_iput_nbi() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput_nbi(P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                      ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iput_nbi(ggas::thread{}, remote, local, remote_stride, local_stride, n, timeout_ns, q);
}
/// ggas_iput_nbi() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput_nbi_warp(P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                           ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iput_nbi(ggas::warp{}, remote, local, remote_stride, local_stride, n, timeout_ns, q);
}
/// ggas_iput_nbi() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iput_nbi_block(P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride,
                                            ptrdiff_t local_stride, size_t n, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iput_nbi(ggas::block{}, remote, local, remote_stride, local_stride, n, timeout_ns, q);
}

/// Gets element i of `n` from remote[i * remote_stride] to local[i * local_stride].
/// Order: complete on return, as ggas_get().
/// Cost: a load for each element; through a NIC a descriptor for each element.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget(const G& group, ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                  ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                  const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return iget(group, until::complete, local, address_of(remote), local_stride, remote_stride, n, timeout_ns, q);
}
/// ggas_iget() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget(ggas::element_at<P>* local, P remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                  size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iget(ggas::thread{}, local, remote, local_stride, remote_stride, n, timeout_ns, q);
}
/// ggas_iget() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget_warp(ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                       ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iget(ggas::warp{}, local, remote, local_stride, remote_stride, n, timeout_ns, q);
}
/// ggas_iget() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget_block(ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                        ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                        const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iget(ggas::block{}, local, remote, local_stride, remote_stride, n, timeout_ns, q);
}

/// Posts ggas_iget().
/// Order: as ggas_get_nbi().
/// Cost: as ggas_iget(), without the last round trip.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget_nbi(const G& group, ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                      ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return iget(group, until::posted, local, address_of(remote), local_stride, remote_stride, n, timeout_ns, q);
}
/// ggas_iget_nbi() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget_nbi(ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                      ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iget_nbi(ggas::thread{}, local, remote, local_stride, remote_stride, n, timeout_ns, q);
}
/// ggas_iget_nbi() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget_nbi_warp(ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                           ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iget_nbi(ggas::warp{}, local, remote, local_stride, remote_stride, n, timeout_ns, q);
}
/// ggas_iget_nbi() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_iget_nbi_block(ggas::element_at<P>* local, P remote, ptrdiff_t local_stride,
                                            ptrdiff_t remote_stride, size_t n, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_iget_nbi(ggas::block{}, local, remote, local_stride, remote_stride, n, timeout_ns, q);
}
