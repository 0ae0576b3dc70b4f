// SPDX-License-Identifier: Apache-2.0
// Queues of the NIC, and completion. Included by ggas.cuh.
#pragma once

#include "ggas/detail/one_sided/queue_handle.cuh"

// A queue carries operations to one node in the order they were posted; operations of different queues are
// not ordered. Any number of threads and blocks may use one. A handle is a value for one thread; in group calls every
// thread passes its own handle of the same queue.
// ggas_shared: others may use the queue at the same time; ggas_exclusive: only this handle does.

/// Queues of this node, the same number on every node.
GGAS_DEVICE int ggas_queues();
/// Handle of queue `index`; ggas_queue::good() is false if there is none.
GGAS_DEVICE ggas_queue ggas_queue_of(int index, ggas_sharing sharing = ggas_shared);
/// The queue with the block's number modulo the number of queues, shared: the default of all calls
/// (ggas_queue::of_block()).
GGAS_DEVICE ggas_queue ggas_default_queue();

/// Operations of the queue that have failed, and the NIC's code of the last one (ST_* in docs/rma.md).
GGAS_DEVICE ggas_queue_failures ggas_queue_error(const ggas_queue& q);
/// Clears the failures: they are no longer reported.
GGAS_DEVICE void ggas_queue_forgive(const ggas_queue& q);

/// Waits until every operation posted to the queue before is complete. If other threads keep posting, the call makes
/// them wait until then.
/// Order: completion: puts are visible at the target, gets in own memory.
/// Cost: a fence; through a NIC polls of the status that it writes.
/// Errors: ggas_bad_argument, ggas_timed_out, ggas_aborted; ggas_peer_error: an operation of the queue failed.
GGAS_DEVICE ggas_status ggas_quiet(const ggas_queue& q, uint64_t timeout_ns);
/// ggas_quiet() of a queue by all threads of a warp.
GGAS_DEVICE ggas_status ggas_quiet_warp(const ggas_queue& q, uint64_t timeout_ns);
/// ggas_quiet() of a queue by all threads of a block.
GGAS_DEVICE ggas_status ggas_quiet_block(const ggas_queue& q, uint64_t timeout_ns);
/// Waits until the sources of all operations posted to the queue before may be overwritten.
/// Order: none at the targets.
/// Cost: nothing where peers are memory; through a NIC polls of the status that it writes.
/// Errors: as ggas_quiet() of a queue.
GGAS_DEVICE ggas_status ggas_quiet_local(const ggas_queue& q, uint64_t timeout_ns);
/// ggas_quiet_local() by all threads of a warp.
GGAS_DEVICE ggas_status ggas_quiet_local_warp(const ggas_queue& q, uint64_t timeout_ns);
/// Orders operations posted to the queue before all later accesses and operations of the thread, on any path.
/// Order: as ggas_fence(), of the queue's operations too.
/// Cost: as ggas_quiet() of a queue through a NIC, else a fence.
/// Errors: as ggas_quiet() of a queue.
GGAS_DEVICE ggas_status ggas_fence(const ggas_queue& q, uint64_t timeout_ns);
