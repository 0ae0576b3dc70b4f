// SPDX-License-Identifier: Apache-2.0
// Remote atomics on words of any node, the own one included: 4- and 8-byte integers, float and double.
//
// * Floating point words have add, min, max, swap and cas (of bits). Through a NIC their add, min and max are a loop of
//   cas, with a round trip for each attempt; they are complete when the call returns.
// * Atomics through a queue are atomic with each other. Plain accesses and the GPU's own atomics to the same word are
//   not ordered with them.
//
// Included by ggas.cuh; rules of all calls: rma.cuh.
#pragma once

#include "ggas/detail/one_sided/amo.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Changes the word at `remote` by `what` and `operand`, once for the group, and writes its old value to `*old`;
/// `compare` is for ggas_atomic_cas. All threads of a warp or tile get `*old`. In a block or several warps only the
/// threads of the first warp get it.
/// Order: relaxed.
/// Cost: a round trip; a local atomic for the own node.
/// Errors: ggas_bad_argument, ggas_timed_out (the outcome is unknown), ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_atomic_fetch(const G& group, ggas_atomic what, P remote, ggas::element_at<P> operand,
                                          ggas::element_at<P> compare, ggas::element_at<P>* old, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return fetch_atomic(group, what, address_of(remote), operand, compare, old, timeout_ns, q);
}
/// ggas_atomic_fetch() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_atomic_fetch(ggas_atomic what, P remote, ggas::element_at<P> operand,
                                          ggas::element_at<P> compare, ggas::element_at<P>* old, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_atomic_fetch(ggas::thread{}, what, remote, operand, compare, old, timeout_ns, q);
}
/// ggas_atomic_fetch() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_atomic_fetch_warp(ggas_atomic what, P remote, ggas::element_at<P> operand,
                                               ggas::element_at<P> compare, ggas::element_at<P>* old,
                                               uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_atomic_fetch(ggas::warp{}, what, remote, operand, compare, old, timeout_ns, q);
}
/// ggas_atomic_fetch() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_atomic_fetch_block(ggas_atomic what, P remote, ggas::element_at<P> operand,
                                                ggas::element_at<P> compare, ggas::element_at<P>* old,
                                                uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_atomic_fetch(ggas::block{}, what, remote, operand, compare, old, timeout_ns, q);
}

/// Posts the change of the word at `remote` by `what` and `operand`, without its old value.
/// Order: relaxed; done after ggas_quiet() of the queue.
/// Cost: a hop; through a NIC a descriptor.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_atomic_post(ggas_atomic what, P remote, ggas::element_at<P> operand,
                                         ggas::element_at<P> compare, uint64_t timeout_ns,
                                         const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return post_atomic(what, address_of(remote), operand, compare, timeout_ns, q);
}

/// Adds `value` to the word at `remote` and gives its old value in `*old`.
/// Order: relaxed.
/// Cost: a round trip; a local atomic for the own node.
/// Errors: ggas_bad_argument, ggas_timed_out (the outcome is unknown), ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_fetch_add(P remote, ggas::element_at<P> value, ggas::element_at<P>* old,
                                       uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return fetch_atomic(ggas::thread{}, ggas_atomic_add, address_of(remote), value, ggas::element_at<P>{}, old,
                      timeout_ns, q);
}

/// Replaces the word at `remote` by `value` and gives its old value in `*old`.
/// Order: relaxed.
/// Cost: a round trip; a local atomic for the own node.
/// Errors: ggas_bad_argument, ggas_timed_out (the outcome is unknown), ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_fetch_swap(P remote, ggas::element_at<P> value, ggas::element_at<P>* old,
                                        uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return fetch_atomic(ggas::thread{}, ggas_atomic_swap, address_of(remote), value, ggas::element_at<P>{}, old,
                      timeout_ns, q);
}

/// Replaces the word at `remote` by `value` if it is `compare`, and gives its old value in `*old`.
/// Order: relaxed.
/// Cost: a round trip; a local atomic for the own node.
/// Errors: ggas_bad_argument, ggas_timed_out (the outcome is unknown), ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_compare_swap(P remote, ggas::element_at<P> compare, ggas::element_at<P> value,
                                          ggas::element_at<P>* old, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return fetch_atomic(ggas::thread{}, ggas_atomic_cas, address_of(remote), value, compare, old, timeout_ns, q);
}

/// Posts the addition of `value` to the word at `remote`.
/// Order: relaxed; done after ggas_quiet() of the queue.
/// Cost: a hop; through a NIC a descriptor.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_add(P remote, ggas::element_at<P> value, uint64_t timeout_ns,
                                 const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return post_atomic(ggas_atomic_add, address_of(remote), value, ggas::element_at<P>{}, timeout_ns, q);
}
