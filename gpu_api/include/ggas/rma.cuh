// SPDX-License-Identifier: Apache-2.0
// One-sided communication for kernels: put and get, strides, signals, tagged puts. Included by ggas.cuh; guide:
// docs/device-api.md, orders: docs/memory-model.md.
//
// * A call with a group is made by all threads of the group with equal arguments; ggas_x() by one thread, ggas_x_warp()
//   by a warp, ggas_x_block() by a block are short for it. P is a pointer or a ggas::global_ptr, ggas::element_at<P>
//   the type of the object there.
// * If the NIC has contexts for this GPU a call becomes a descriptor in a queue (docs/rma.md). Otherwise the memory of
//   peers is accessed directly: a put by stores of 16 bytes by neighbouring threads, a get by loads, an atomic by an
//   atomic.
// * Cost: a hop is the time from a store until a peer sees it; a fence waits until peers have confirmed all stores
//   before it.
// * Remote addresses come from ggas_pointer_of_node() or ggas_global_pointer(); local ones lie in the own segment,
//   and all `n` elements must be readable, even if a call is refused. Time-outs are in ns, for the whole call.
// * ggas_bad_argument: an address in no segment, across its end, or misaligned; a queue that does not exist.
// * ggas_timed_out: not done in time; the operation may still happen.
// * ggas_peer_error: an operation of the queue failed; ggas_queue_error() gives the number of failures and the last
//   code.
// * ggas_no_queue: the node has no context, and its peers' memory cannot be accessed directly (for an atomic, a signal
//   that adds or a notification: or has no atomics).
#pragma once

#include "ggas/put.cuh"
#include "ggas/signal.cuh"
#include "ggas/strided.cuh"
#include "ggas/tagged.cuh"
#include "ggas/velo.cuh"
