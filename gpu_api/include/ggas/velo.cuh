// SPDX-License-Identifier: Apache-2.0
// Messages of up to 64 bytes into the mailbox of a queue of another node: VELO, a unit of the NIC. Included by
// ggas.cuh; rules of all calls: rma.cuh. The queues need a mailbox: queue_config::mailbox.
#pragma once

#include "ggas/detail/one_sided/velo.cuh"
#include "ggas/detail/sync/forms.cuh"

/// Posts a message of 0 to 64 bytes with `cookie`, any number, to the mailbox of queue `to_queue` of `node`. The data
/// may lie in any memory at any address, and may be overwritten when the call returns. Order: messages of a queue to a
/// mailbox are taken in the order in which they were posted. If the mailbox is full, the NIC of the sender tries again.
/// Cost: a descriptor of one to three slots.
/// Errors: ggas_bad_argument, ggas_timed_out (no room in time), ggas_aborted; ggas_no_queue: no NIC.
template <ggas::detail::a_group G>
GGAS_DEVICE ggas_status ggas_velo_send(const G& group, int node, const void* data, unsigned bytes, uint64_t cookie,
                                       int to_queue, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_velo_send, group, if (group.leads()) record_notifying(this_call, s, timeout_ns, node, to_queue, q),
            velo_send(group, node, data, bytes, cookie, to_queue, deadline(timeout_ns), q));
}
/// ggas_velo_send() by one thread.
GGAS_DEVICE ggas_status ggas_velo_send(int node, const void* data, unsigned bytes, uint64_t cookie, int to_queue,
                                       uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_velo_send(ggas::thread{}, node, data, bytes, cookie, to_queue, timeout_ns, q);
}
/// ggas_velo_send() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_velo_send_warp(int node, const void* data, unsigned bytes, uint64_t cookie, int to_queue,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_velo_send(ggas::warp{}, node, data, bytes, cookie, to_queue, timeout_ns, q);
}
/// ggas_velo_send() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_velo_send_block(int node, const void* data, unsigned bytes, uint64_t cookie, int to_queue,
                                             uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()) {
  return ggas_velo_send(ggas::block{}, node, data, bytes, cookie, to_queue, timeout_ns, q);
}

/// Takes the next message from the mailbox of a queue. A time-out of 0 tests.
/// Order: an acquire of the message; earlier puts of its sender need a notification.
/// Cost: polls of the mailbox. Each message is taken once, by the first caller.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted; ggas_no_queue: no mailbox.
GGAS_DEVICE ggas_status ggas_velo_take(ggas_velo_message* message, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block()) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_velo_take, ggas::thread{}, record_mail(this_call, s, timeout_ns, q),
            velo_take(message, deadline(timeout_ns), q));
}
