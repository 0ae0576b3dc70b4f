// SPDX-License-Identifier: Apache-2.0
// Notifications: records in a ring of the target's queue. Included by ggas.cuh; rules of all calls: rma.cuh.
#pragma once

#include "ggas/detail/one_sided/notify.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Posts a put of `n` elements that leaves a notification with `cookie`, any number, in queue `to_queue` of the target.
/// `local` must not change until ggas_quiet_local().
/// Order: the thread that takes the notification sees the data.
/// Cost: the data, a fence and a hop; through a NIC a descriptor. In a block or several warps all copy, and one
/// notifies.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in time), ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_notify(const G& group, P remote, const ggas::element_at<P>* local, size_t n,
                                        uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                        const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_put_notify, group,
            if (group.leads())
                record_notifying(this_call, s, timeout_ns, locate(address_of(remote), 0).node, to_queue, q),
            put_notify(group, address_of(remote), local, n, cookie, to_queue, deadline(timeout_ns), q));
}
/// ggas_put_notify() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_notify(P remote, const ggas::element_at<P>* local, size_t n, uint64_t cookie,
                                        int to_queue, uint64_t timeout_ns,
                                        const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_notify(ggas::thread{}, remote, local, n, cookie, to_queue, timeout_ns, q);
}
/// ggas_put_notify() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_notify_warp(P remote, const ggas::element_at<P>* local, size_t n, uint64_t cookie,
                                             int to_queue, uint64_t timeout_ns,
                                             const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_notify(ggas::warp{}, remote, local, n, cookie, to_queue, timeout_ns, q);
}
/// ggas_put_notify() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_notify_block(P remote, const ggas::element_at<P>* local, size_t n, uint64_t cookie,
                                              int to_queue, uint64_t timeout_ns,
                                              const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_notify(ggas::block{}, remote, local, n, cookie, to_queue, timeout_ns, q);
}

/// Posts the put of a value of 1, 2, 4 or 8 bytes that leaves a notification with `cookie` in queue `to_queue` of the
/// target.
/// Order: the thread that takes the notification sees the value.
/// Cost: a store, a fence and a hop; through a NIC a descriptor.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in time), ggas_no_queue.
template <ggas::detail::a_group G, ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_notify(const G& group, P remote, ggas::element_at<P> value, uint64_t cookie,
                                              int to_queue, uint64_t timeout_ns,
                                              const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_put_value_notify, group,
            if (group.leads())
                record_notifying(this_call, s, timeout_ns, locate(address_of(remote), 0).node, to_queue, q),
            put_value_notify(group, address_of(remote), value, cookie, to_queue, deadline(timeout_ns), q));
}
/// ggas_put_value_notify() by one thread.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_notify(P remote, ggas::element_at<P> value, uint64_t cookie, int to_queue,
                                              uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value_notify(ggas::thread{}, remote, value, cookie, to_queue, timeout_ns, q);
}
/// ggas_put_value_notify() by all threads of a warp, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_notify_warp(P remote, ggas::element_at<P> value, uint64_t cookie, int to_queue,
                                                   uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value_notify(ggas::warp{}, remote, value, cookie, to_queue, timeout_ns, q);
}
/// ggas_put_value_notify() by all threads of a block, with equal arguments.
template <ggas::detail::a_place P>
GGAS_DEVICE ggas_status ggas_put_value_notify_block(P remote, ggas::element_at<P> value, uint64_t cookie, int to_queue,
                                                    uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_put_value_notify(ggas::block{}, remote, value, cookie, to_queue, timeout_ns, q);
}

/// Leaves a notification with `cookie` in queue `to_queue` of `node`.
/// Order: the thread that takes it sees earlier puts of the group to that node through the same queue.
/// Cost: a fence and a hop; through a NIC a descriptor.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in time), ggas_no_queue.
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status ggas_notify(const G& group, int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                    const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_notify, group, if (group.leads()) record_notifying(this_call, s, timeout_ns, node, to_queue, q),
            notify(group, node, cookie, to_queue, 0, deadline(timeout_ns), q));
}
/// ggas_notify() by one thread.
GGAS_DEVICE ggas_status ggas_notify(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                    const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_notify(ggas::thread{}, node, cookie, to_queue, timeout_ns, q);
}
/// ggas_notify() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_notify_warp(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                         const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_notify(ggas::warp{}, node, cookie, to_queue, timeout_ns, q);
}
/// ggas_notify() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_notify_block(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_notify(ggas::block{}, node, cookie, to_queue, timeout_ns, q);
}

/// Takes at least one and at most `most` notifications of a queue to `notes`. `*taken` is their number, also after a
/// time-out. A time-out of 0 tests.
/// Order: an acquire of earlier puts of the senders.
/// Cost: polls of local memory. Each notification is taken once, by the first caller.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted, ggas_no_queue; ggas_peer_error: taken, and one of them
/// reports a failure or a loss.
GGAS_DEVICE ggas_status ggas_notification_wait_some(ggas_notification* notes, size_t most, size_t* taken,
                                                    uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_notification_wait_some, ggas::thread{}, record_taking(this_call, s, timeout_ns, q),
            take_notifications(notes, 1, most, taken, deadline(timeout_ns), q));
}
/// Takes exactly `n` notifications of a queue to `notes`; `*taken` is their number, also after a time-out.
/// Order: an acquire of earlier puts of the senders.
/// Cost: polls of local memory. Each notification is taken once, by the first caller.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted, ggas_no_queue; ggas_peer_error: taken, and one of them
/// reports a failure or a loss.
GGAS_DEVICE ggas_status ggas_notification_wait_all(ggas_notification* notes, size_t n, size_t* taken,
                                                   uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_notification_wait_all, ggas::thread{}, record_taking(this_call, s, timeout_ns, q),
            take_notifications(notes, n, n, taken, deadline(timeout_ns), q));
}
/// Takes the next notification of a queue.
/// Order: an acquire of earlier puts of the senders.
/// Cost: polls of local memory. Each notification is taken once, by the first caller.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted, ggas_no_queue; ggas_peer_error: taken, and one of them
/// reports a failure or a loss.
GGAS_DEVICE ggas_status ggas_notification_wait(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  size_t taken = 0;
  GGAS_CALL(ggas_notification_wait, ggas::thread{}, record_taking(this_call, s, timeout_ns, q),
            take_notifications(note, 1, 1, &taken, deadline(timeout_ns), q));
}
/// ggas_notification_wait() by all threads of a warp: one takes it, all get it.
GGAS_DEVICE ggas_status ggas_notification_wait_warp(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  constexpr ggas::warp group;
  GGAS_CALL(ggas_notification_wait, group, if (group.leads()) record_taking(this_call, s, timeout_ns, q),
            take_for_warp(note, timeout_ns, q));
}
