// SPDX-License-Identifier: Apache-2.0
// Queues of the NIC, and completion. Included by ggas.cuh.
#pragma once

#include "ggas/detail/one_sided/queue_handle.cuh"

// ---- queues. A queue carries operations to one node in the order they were posted; operations of different queues are
// not ordered. Any number of threads and blocks may use one. A handle is a value for one thread; in group calls every
// thread passes its own handle of the same queue.
// ggas_shared: others may use the queue at the same time; ggas_exclusive: only this handle does.
GGAS_DEVICE int ggas_queues();  // of this node: 0, 1 ... ; the same on every node
// Queue `index`; ggas_queue::good() is false if there is none.
GGAS_DEVICE ggas_queue ggas_queue_of(int index, ggas_sharing sharing = ggas_shared);
// The block's number modulo the queues, shared: the one of calls that are given none (ggas_queue::of_block()).
GGAS_DEVICE ggas_queue ggas_default_queue();

GGAS_DEVICE ggas_queue_failures ggas_queue_error(const ggas_queue& q);
GGAS_DEVICE void ggas_queue_forgive(const ggas_queue& q);  // failures so far are reported no more

// ---- completion. Waits until every operation posted to the queue before is complete: puts are visible at the target,
// gets here. A queue that others keep filling is held until then.
GGAS_DEVICE ggas_status ggas_quiet(const ggas_queue& q, uint64_t timeout_ns);
GGAS_DEVICE ggas_status ggas_quiet_warp(const ggas_queue& q, uint64_t timeout_ns);
GGAS_DEVICE ggas_status ggas_quiet_block(const ggas_queue& q, uint64_t timeout_ns);
// Waits until the sources of everything posted before may be overwritten.
GGAS_DEVICE ggas_status ggas_quiet_local(const ggas_queue& q, uint64_t timeout_ns);
GGAS_DEVICE ggas_status ggas_quiet_local_warp(const ggas_queue& q, uint64_t timeout_ns);
// Orders what was posted to the queue before everything the thread does later, whatever the way.
GGAS_DEVICE ggas_status ggas_fence(const ggas_queue& q, uint64_t timeout_ns);
