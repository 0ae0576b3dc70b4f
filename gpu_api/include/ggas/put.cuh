// SPDX-License-Identifier: Apache-2.0
// Put and get. Included by rma.cuh, which has the rules of all its calls.
#pragma once

#include "ggas/detail/one_sided/put.cuh"
#include "ggas/detail/one_sided/strided.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Copies `n` elements from own memory, `local`, to `remote`, memory of any node.
/// Order: complete on return: the data are at the target, and later operations of the group arrive after them.
/// Cost: the data's stores and a fence; through a NIC a descriptor and its acknowledgement.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put(const G& group, P remote, const ggas::element_at<P>* local, size_t n,
                                 uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return put(group, until::complete, address_of(remote), local, n, timeout_ns, q);
}
/// ggas_put() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                 const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put(ggas::thread{}, remote, local, n, timeout_ns, q);
}
/// ggas_put() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_warp(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put(ggas::warp{}, remote, local, n, timeout_ns, q);
}
/// ggas_put() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_block(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put(ggas::block{}, remote, local, n, timeout_ns, q);
}

/// Posts a put. `local` must not change until ggas_quiet_local().
/// Order: the data are at the target after ggas_quiet() of the queue; puts of one queue to one node arrive in the
/// order of posting, nothing else is ordered.
/// Cost: the data's stores; through a NIC a descriptor.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_nbi(const G& group, P remote, const ggas::element_at<P>* local, size_t n,
                                     uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return put(group, until::posted, address_of(remote), local, n, timeout_ns, q);
}
/// ggas_put_nbi() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_nbi(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                     const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_nbi(ggas::thread{}, remote, local, n, timeout_ns, q);
}
/// ggas_put_nbi() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_nbi_warp(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_nbi(ggas::warp{}, remote, local, n, timeout_ns, q);
}
/// ggas_put_nbi() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_nbi_block(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_nbi(ggas::block{}, remote, local, n, timeout_ns, q);
}

/// ggas_put_nbi() by all blocks of the grid, in any order, with equal arguments and the same queue: each moves its
/// share.
/// Order: no barrier of the grid: a block returns when its own share is posted. Writes of other blocks to `local` must
/// be ordered before the call.
/// Cost: a whole grid reaches the bandwidth of the links, a block the send rate of one multiprocessor.
/// Errors: as ggas_put_nbi(), of the own share.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_nbi_grid(P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue_of(0)) {
  using namespace ggas::detail;
  return grid_group::works() ? put(ggas::grid{}, until::posted, address_of(remote), local, n, timeout_ns, q) : ggas_ok;
}

/// Copies `n` elements from `remote`, memory of any node, to own memory, `local`.
/// Order: complete on return: the group sees the data.
/// Cost: a round trip for each batch of loads that are in flight at once; through a NIC a descriptor and the round
/// trip.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get(const G& group, ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                 const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return get(group, until::complete, local, address_of(remote), n, timeout_ns, q);
}
/// ggas_get() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                 const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_get(ggas::thread{}, local, remote, n, timeout_ns, q);
}
/// ggas_get() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_warp(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_get(ggas::warp{}, local, remote, n, timeout_ns, q);
}
/// ggas_get() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_block(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_get(ggas::block{}, local, remote, n, timeout_ns, q);
}

/// Posts a get.
/// Order: the data are in `local` after ggas_quiet() of the queue; gets are not ordered with anything else. Where
/// peers are memory, complete on return.
/// Cost: through a NIC a descriptor, else as ggas_get().
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_nbi(const G& group, ggas::element_at<P>* local, P remote, size_t n,
                                     uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return get(group, until::posted, local, address_of(remote), n, timeout_ns, q);
}
/// ggas_get_nbi() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_nbi(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                     const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_get_nbi(ggas::thread{}, local, remote, n, timeout_ns, q);
}
/// ggas_get_nbi() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_nbi_warp(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_get_nbi(ggas::warp{}, local, remote, n, timeout_ns, q);
}
/// ggas_get_nbi() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_nbi_block(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_get_nbi(ggas::block{}, local, remote, n, timeout_ns, q);
}

/// ggas_get_nbi() by all blocks of the grid, in any order, with equal arguments and the same queue: each moves its
/// share.
/// Order: no barrier of the grid: a block returns when its own share is posted.
/// Cost: as ggas_put_nbi_grid(), with loads.
/// Errors: as ggas_get_nbi(), of the own share.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_get_nbi_grid(ggas::element_at<P>* local, P remote, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue_of(0)) {
  using namespace ggas::detail;
  return grid_group::works() ? get(ggas::grid{}, until::posted, local, address_of(remote), n, timeout_ns, q) : ggas_ok;
}

/// Puts a value of 1, 2, 4 or 8 bytes, which is passed by value and needs no address, once for the group.
/// Order: complete on return, as ggas_put().
/// Cost: a store and a fence; through a NIC a descriptor and its acknowledgement.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value(const G& group, P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return put_value(group, until::complete, address_of(remote), value, timeout_ns, q);
}
/// ggas_put_value() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value(ggas::thread{}, remote, value, timeout_ns, q);
}
/// ggas_put_value() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_warp(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value(ggas::warp{}, remote, value, timeout_ns, q);
}
/// ggas_put_value() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_block(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                             const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value(ggas::block{}, remote, value, timeout_ns, q);
}

/// Posts the put of a value of 1, 2, 4 or 8 bytes.
/// Order: as ggas_put_nbi().
/// Cost: a store; through a NIC a descriptor.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_nbi(const G& group, P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return put_value(group, until::posted, address_of(remote), value, timeout_ns, q);
}
/// ggas_put_value_nbi() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_nbi(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value_nbi(ggas::thread{}, remote, value, timeout_ns, q);
}
/// ggas_put_value_nbi() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_nbi_warp(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                                const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value_nbi(ggas::warp{}, remote, value, timeout_ns, q);
}
/// ggas_put_value_nbi() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_nbi_block(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                                 const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value_nbi(ggas::block{}, remote, value, timeout_ns, q);
}
