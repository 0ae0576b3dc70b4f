// SPDX-License-Identifier: Apache-2.0
// Notifications. Included by ggas.cuh; what GGAS_FORM makes: rma.cuh.
#pragma once

#include "ggas/detail/one_sided/notify.cuh"
#include "ggas/detail/sync/forms.cuh"

// ---- notifications: a put may leave a record in a ring of the target, and so may a call of its own. `cookie` is any
// number; `to_queue` the queue at the target whose ring is meant. Posted as nbi; on peers' memory a fence and one
// hop. By a block, or several warps, all of them copy and one tells.
GGAS_WAITING_FORMS(ggas_put_notify,
                   (P remote, const ggas::element_at<P>* local, size_t n, uint64_t cookie, int to_queue,
                    uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
                   record_notifying(this_call, s, timeout_ns, locate(address_of(remote), 0).node, to_queue, q),
                   put_notify(group, address_of(remote), local, n, cookie, to_queue, deadline(timeout_ns), q))
GGAS_WAITING_FORMS(ggas_put_value_notify,
                   (P remote, ggas::element_at<P> value, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                    const ggas_queue& q = ggas_queue::of_block()),
                   record_notifying(this_call, s, timeout_ns, locate(address_of(remote), 0).node, to_queue, q),
                   put_value_notify(group, address_of(remote), value, cookie, to_queue, deadline(timeout_ns), q))
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status ggas_notify(const G& group, int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                    const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_notify, group, if (group.leads()) record_notifying(this_call, s, timeout_ns, node, to_queue, q),
            notify(group, node, cookie, to_queue, 0, deadline(timeout_ns), q));
}
GGAS_DEVICE ggas_status ggas_notify(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                    const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_notify(ggas::thread{}, node, cookie, to_queue, timeout_ns, q);
}
GGAS_DEVICE ggas_status ggas_notify_warp(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                         const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_notify(ggas::warp{}, node, cookie, to_queue, timeout_ns, q);
}
GGAS_DEVICE ggas_status ggas_notify_block(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_notify(ggas::block{}, node, cookie, to_queue, timeout_ns, q);
}
// Takes the next notification of a queue; with `some` as many as there are, at least one, at most `most`; with `all`
// exactly n. `taken` says how many were written to `notes`, after a time-out too. ggas_peer_error: taken, and one of
// them reports a failure or a loss. Each notification is taken once, whoever waits. A time-out of 0 tests. An acquire.
GGAS_DEVICE ggas_status ggas_notification_wait_some(ggas_notification* notes, size_t most, size_t* taken,
                                                    uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_notification_wait_some, ggas::thread{}, record_taking(this_call, s, timeout_ns, q),
            take_notifications(notes, 1, most, taken, deadline(timeout_ns), q));
}
GGAS_DEVICE ggas_status ggas_notification_wait_all(ggas_notification* notes, size_t n, size_t* taken,
                                                   uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_notification_wait_all, ggas::thread{}, record_taking(this_call, s, timeout_ns, q),
            take_notifications(notes, n, n, taken, deadline(timeout_ns), q));
}
GGAS_DEVICE ggas_status ggas_notification_wait(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  size_t taken = 0;
  GGAS_CALL(ggas_notification_wait, ggas::thread{}, record_taking(this_call, s, timeout_ns, q),
            take_notifications(note, 1, 1, &taken, deadline(timeout_ns), q));
}
GGAS_DEVICE ggas_status ggas_notification_wait_warp(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q) {
  using namespace ggas::detail;
  constexpr ggas::warp group;
  GGAS_CALL(ggas_notification_wait, group, if (group.leads()) record_taking(this_call, s, timeout_ns, q),
            take_for_warp(note, timeout_ns, q));
}
