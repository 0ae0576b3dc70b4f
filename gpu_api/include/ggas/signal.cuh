// SPDX-License-Identifier: Apache-2.0
// Put with a signal, and waiting for one. Included by rma.cuh, which has the rules of all its calls.
#pragma once

#include "ggas/detail/one_sided/signal.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Puts `n` elements, and then sets a 64-bit word at the same node to `value` or adds `value` to it.
/// Order: a thread that sees the word sees the data; complete on return.
/// Cost: the data's stores, a fence, the signal's hop, a fence; through a NIC two descriptors and an acknowledgement.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_peer_error, ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal(const G& group, P remote, const ggas::element_at<P>* local, size_t n,
                                        ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                        uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return put_signal(group, until::complete, address_of(remote), local, n, {signal.address, value, op}, timeout_ns, q);
}
/// ggas_put_signal() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal(P remote, const ggas::element_at<P>* local, size_t n,
                                        ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                        uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_signal(ggas::thread{}, remote, local, n, signal, value, op, timeout_ns, q);
}
/// ggas_put_signal() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal_warp(P remote, const ggas::element_at<P>* local, size_t n,
                                             ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                             uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_signal(ggas::warp{}, remote, local, n, signal, value, op, timeout_ns, q);
}
/// ggas_put_signal() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal_block(P remote, const ggas::element_at<P>* local, size_t n,
                                              ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                              uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_signal(ggas::block{}, remote, local, n, signal, value, op, timeout_ns, q);
}

/// Posts ggas_put_signal(). `local` must not change until ggas_quiet_local().
/// Order: a thread that sees the word sees the data.
/// Cost: the data's stores, a fence, the signal's hop; through a NIC two descriptors.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in the queue in time), ggas_no_queue; failures later by
/// ggas_queue_error().
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal_nbi(const G& group, P remote, const ggas::element_at<P>* local, size_t n,
                                            ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  return put_signal(group, until::posted, address_of(remote), local, n, {signal.address, value, op}, timeout_ns, q);
}
/// ggas_put_signal_nbi() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal_nbi(P remote, const ggas::element_at<P>* local, size_t n,
                                            ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_signal_nbi(ggas::thread{}, remote, local, n, signal, value, op, timeout_ns, q);
}
/// ggas_put_signal_nbi() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal_nbi_warp(P remote, const ggas::element_at<P>* local, size_t n,
                                                 ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                                 uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_signal_nbi(ggas::warp{}, remote, local, n, signal, value, op, timeout_ns, q);
}
/// ggas_put_signal_nbi() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_signal_nbi_block(P remote, const ggas::element_at<P>* local, size_t n,
                                                  ggas::place_for<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                                  uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_signal_nbi(ggas::block{}, remote, local, n, signal, value, op, timeout_ns, q);
}

/// Waits until `*signal cmp value` for a signal word of the own node. `seen` (may be null) gets the value that ended
/// the wait; the word may have changed since then.
/// Order: an acquire: data sent before that value are visible.
/// Cost: polls of local memory. A time-out of 0 tests once.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted.
GGAS_DEVICE ggas_status ggas_signal_wait_until(ggas::place_for<const uint64_t> signal, ggas_cmp cmp, uint64_t value,
                                               uint64_t* seen, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_signal_wait_until, ggas::thread{}, record_flag(this_call, s, timeout_ns, signal.address, cmp, value),
            wait_for_signal(signal.address, cmp, value, seen, timeout_ns));
}
