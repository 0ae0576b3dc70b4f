// SPDX-License-Identifier: Apache-2.0
// One-sided communication for kernels: put, get, signals, notifications, atomics. Included by ggas.cuh; guide:
// docs/device-api.md, orders: docs/memory-model.md.
//
// Where the NIC has contexts for this GPU a call becomes a descriptor in a queue (docs/rma.md). Without them the memory
// of peers is reached directly: a put is stores of 16 bytes by neighbouring threads, a get loads, an atomic an atomic.
//
// Remote addresses are those of ggas_pointer_of_node or ggas_global_pointer; local ones lie in the own segment. Times
// are in ns. ggas_bad_argument: an address in no segment or across its end, or a misaligned one; ggas_timed_out: not
// done in time (the operation may still happen); ggas_peer_error: an operation of the queue failed (ggas_queue_error
// tells which way); ggas_no_queue: the node has neither a context nor peers it reaches directly; an atomic, a signal
// that adds or a notification: nor peers that take atomics.
#pragma once

#include "ggas/detail/one_sided/put.cuh"
#include "ggas/detail/one_sided/signal.cuh"
#include "ggas/detail/one_sided/strided.cuh"
#include "ggas/detail/one_sided/tagged.cuh"
#include "ggas/detail/sync/forms.cuh"

// Each GGAS_FORMS(x, ...) below is x, x_warp, x_block and x(group, ...); GGAS_FORM the one form it names. P is a
// pointer or a ggas::global_ptr, ggas::element_at<P> what lies there. Cost, on peers' memory: "a hop" is a store that a
// peer sees, "a fence" waits until peers have confirmed all stores before (docs/memory-model.md). Behind a NIC a call
// is a descriptor.

// ---- put and get of n elements; all n of `local` must be there, also where a call is refused. Without nbi: complete
// on return, a put after a fence. nbi: posted on return; a put's source must stay as it is until ggas_quiet_local, data
// is there after ggas_quiet; unordered but for puts of one queue to one node. The time-out is for the call.
GGAS_FORMS(ggas_put,
           (P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
            const ggas_queue& q = ggas_queue::of_block()),
           put(group, until::complete, address_of(remote), local, n, timeout_ns, q))
GGAS_FORMS(ggas_put_nbi,
           (P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
            const ggas_queue& q = ggas_queue::of_block()),
           put(group, until::posted, address_of(remote), local, n, timeout_ns, q))
GGAS_FORMS(ggas_get,
           (ggas::element_at<P> * local, P remote, size_t n, uint64_t timeout_ns,
            const ggas_queue& q = ggas_queue::of_block()),
           get(group, until::complete, local, address_of(remote), n, timeout_ns, q))
GGAS_FORMS(ggas_get_nbi,
           (ggas::element_at<P> * local, P remote, size_t n, uint64_t timeout_ns,
            const ggas_queue& q = ggas_queue::of_block()),
           get(group, until::posted, local, address_of(remote), n, timeout_ns, q))
// By all blocks of the grid, one after the other or together, with the same queue: each moves its share of the data.
// Not a barrier of the grid: a block returns when its own share is posted, and what other blocks wrote to the source
// must be ordered before the call. All of a grid reaches the bandwidth of the links, a block what one multiprocessor
// can send.
GGAS_FORM(ggas_put_nbi_grid, grid,
          (P remote, const ggas::element_at<P>* local, size_t n, uint64_t timeout_ns,
           const ggas_queue& q = ggas_queue_of(0)),
          grid_group::works() ? put(group, until::posted, address_of(remote), local, n, timeout_ns, q) : ggas_ok)
GGAS_FORM(ggas_get_nbi_grid, grid,
          (ggas::element_at<P> * local, P remote, size_t n, uint64_t timeout_ns,
           const ggas_queue& q = ggas_queue_of(0)),
          grid_group::works() ? get(group, until::posted, local, address_of(remote), n, timeout_ns, q) : ggas_ok)
// A value of 1, 2, 4 or 8 bytes that has no address. A store and, complete, a fence.
GGAS_FORMS(ggas_put_value,
           (P remote, ggas::element_at<P> value, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           put_value(group, until::complete, address_of(remote), value, timeout_ns, q))
GGAS_FORMS(ggas_put_value_nbi,
           (P remote, ggas::element_at<P> value, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           put_value(group, until::posted, address_of(remote), value, timeout_ns, q))

// ---- strided: element i goes from source[i * source_stride] to target[i * target_stride]; strides in elements of 1,
// 2, 4 or 8 bytes, an access each. Else as put and get.
GGAS_FORMS(ggas_iput,
           (P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride, ptrdiff_t local_stride, size_t n,
            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           iput(group, until::complete, address_of(remote), local, remote_stride, local_stride, n, timeout_ns, q))
GGAS_FORMS(ggas_iput_nbi,
           (P remote, const ggas::element_at<P>* local, ptrdiff_t remote_stride, ptrdiff_t local_stride, size_t n,
            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           iput(group, until::posted, address_of(remote), local, remote_stride, local_stride, n, timeout_ns, q))
GGAS_FORMS(ggas_iget,
           (ggas::element_at<P> * local, P remote, ptrdiff_t local_stride, ptrdiff_t remote_stride, size_t n,
            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           iget(group, until::complete, local, address_of(remote), local_stride, remote_stride, n, timeout_ns, q))
GGAS_FORMS(ggas_iget_nbi,
           (ggas::element_at<P> * local, P remote, ptrdiff_t local_stride, ptrdiff_t remote_stride, size_t n,
            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           iget(group, until::posted, local, address_of(remote), local_stride, remote_stride, n, timeout_ns, q))

// ---- put, and behind it a 64-bit word at the same node is set or added to: who sees the word sees the data. The data,
// a fence, a hop. Without nbi: and a fence.
GGAS_FORMS(ggas_put_signal,
           (P remote, const ggas::element_at<P>* local, size_t n, ggas::place_for<uint64_t> signal, uint64_t value,
            ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           put_signal(group, until::complete, address_of(remote), local, n, {signal.address, value, op}, timeout_ns, q))
GGAS_FORMS(ggas_put_signal_nbi,
           (P remote, const ggas::element_at<P>* local, size_t n, ggas::place_for<uint64_t> signal, uint64_t value,
            ggas_signal_op op, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block()),
           put_signal(group, until::posted, address_of(remote), local, n, {signal.address, value, op}, timeout_ns, q))
// Waits for a signal word here; `seen` (may be null) gets the value that ended the wait, also if the word has another
// one by now: what was sent before that value is here. An acquire.
GGAS_DEVICE ggas_status ggas_signal_wait_until(ggas::place_for<const uint64_t> signal, ggas_cmp cmp, uint64_t value,
                                               uint64_t* seen, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_signal_wait_until, ggas::thread{}, record_flag(this_call, s, timeout_ns, signal.address, cmp, value),
            wait_for_signal(signal.address, cmp, value, seen, timeout_ns));
}

// ---- tagged puts: the fastest way for up to some 16 KB. Every 8 bytes travel beside a tag in a line of 16, and
// whoever takes them waits for the tag in every line: no fence, no signal, one hop instead of a confirmed store and a
// hop, but twice the bytes. The caller chooses tags; they are not 0, and not the one that the line holds from before:
// count up. Lines are overwritten, not queued: put new ones when the last were taken. Orders nothing but the data
// itself. A line is a ggas_tagged; what it consists of (detail/access/tagged_line.cuh) only the library needs to know.
// Posted on return, in no queue, and the source may be overwritten.
GGAS_FORMS(ggas_put_tagged, (ggas::place_for<ggas_tagged> remote, P local, size_t n, uint32_t tag),
           put_tagged(group, remote.address, address_of(local), n, tag))
// Waits for n elements with this tag in lines here and writes them to `local`, which may be shared memory too. The
// group sees them on return, and the lines may be put again. After a time-out some elements may have been written.
GGAS_WAITING_FORMS(ggas_take_tagged,
                   (P local, ggas::place_for<const ggas_tagged> lines, size_t n, uint32_t tag, uint64_t timeout_ns),
                   record_lines(this_call, s, timeout_ns, lines.address,
                                ggas_tagged_lines(n * sizeof(ggas::element_at<P>)), tag),
                   take_tagged(group, address_of(local), lines.address, n, tag, timeout_ns))
