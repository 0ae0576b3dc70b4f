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

#include "ggas/detail/queue_handle.cuh"
#include "ggas/detail/tagged_line.cuh"
#include "ggas/ggas.cuh"

// ---- queues. A queue carries operations to one node in the order they were posted; operations of different queues are
// not ordered. Any number of threads and blocks may use one. A handle is a value for one thread; in group calls every
// thread passes its own handle of the same queue.
// ggas_shared: others may use the queue at the same time; ggas_exclusive: only this handle does.
GGAS_DEVICE int ggas_queues();  // of this node: 0, 1 ... ; the same on every node
// Queue `index`; ggas_queue::good() is false if there is none.
GGAS_DEVICE ggas_queue ggas_queue_of(int index, ggas_sharing sharing = ggas_shared);
// The block's number modulo the queues, shared: the one of calls that are given none (ggas_queue::of_block()).
GGAS_DEVICE ggas_queue ggas_default_queue();

// Operations of the queue that have failed since its start, and the NIC's code of the last one (ST_* in docs/rma.md).
struct ggas_queue_failures {
  uint32_t count;
  uint32_t code;
};
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

// ---- put and get of n elements; all n of `local` must be there, also where a call is refused. Without suffix nbi:
// complete on return. nbi: posted on return; a put's source must stay as it is until ggas_quiet_local, data is there
// after ggas_quiet. The time-out is for the call.
template <class T>
GGAS_DEVICE ggas_status ggas_put(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                 const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_warp(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_block(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                     const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi_warp(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi_block(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_get(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                 const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_get_warp(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                      const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_get_block(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                     const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi_warp(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi_block(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block());
// By all blocks of the grid, one after the other or together, with the same queue: each moves its share of the data.
// Not a barrier of the grid: a block returns when its own share is posted, and what other blocks wrote to the source
// must be ordered before the call. All of a grid reaches the bandwidth of the links, a block what one multiprocessor
// can send.
template <class T>
GGAS_DEVICE ggas_status ggas_put_nbi_grid(T* remote, const T* local, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue_of(0));
template <class T>
GGAS_DEVICE ggas_status ggas_get_nbi_grid(T* local, const T* remote, size_t n, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue_of(0));
// A value of 1, 2, 4 or 8 bytes that has no address.
template <class T>
GGAS_DEVICE ggas_status ggas_put_value(T* remote, T value, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_warp(T* remote, T value, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_block(T* remote, T value, uint64_t timeout_ns,
                                             const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_nbi_block(T* remote, T value, uint64_t timeout_ns,
                                                 const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_nbi(T* remote, T value, uint64_t timeout_ns,
                                           const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_nbi_warp(T* remote, T value, uint64_t timeout_ns,
                                                const ggas_queue& q = ggas_queue::of_block());

// ---- strided: element i goes from source[i * source_stride] to target[i * target_stride]; strides in elements of 1,
// 2, 4 or 8 bytes.
template <class T>
GGAS_DEVICE ggas_status ggas_iput(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride, size_t n,
                                  uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iput_warp(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                                       size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iput_block(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                                        size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iput_nbi(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                                      size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iput_nbi_warp(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                                           size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iput_nbi_block(T* remote, const T* local, ptrdiff_t remote_stride, ptrdiff_t local_stride,
                                            size_t n, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iget(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride, size_t n,
                                  uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iget_warp(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                       size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iget_block(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                        size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iget_nbi(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                      size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iget_nbi_warp(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                           size_t n, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_iget_nbi_block(T* local, const T* remote, ptrdiff_t local_stride, ptrdiff_t remote_stride,
                                            size_t n, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block());

// ---- put, and behind it a 64-bit word at the same node is set or added to: who sees the word sees the data.
enum ggas_signal_op : int { ggas_signal_set, ggas_signal_add };
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                        ggas_signal_op op, uint64_t timeout_ns,
                                        const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_warp(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                             ggas_signal_op op, uint64_t timeout_ns,
                                             const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_block(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                              ggas_signal_op op, uint64_t timeout_ns,
                                              const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_nbi(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                            ggas_signal_op op, uint64_t timeout_ns,
                                            const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_nbi_warp(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                                 ggas_signal_op op, uint64_t timeout_ns,
                                                 const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_signal_nbi_block(T* remote, const T* local, size_t n, uint64_t* signal, uint64_t value,
                                                  ggas_signal_op op, uint64_t timeout_ns,
                                                  const ggas_queue& q = ggas_queue::of_block());
// Waits for a signal word here; `seen` (may be null) gets the value that ended the wait, also if the word has another
// one by now: what was sent before that value is here.
GGAS_DEVICE ggas_status ggas_signal_wait_until(const uint64_t* signal, ggas_cmp cmp, uint64_t value, uint64_t* seen,
                                               uint64_t timeout_ns);

// ---- tagged puts: the fastest way for up to some 16 KB. Every 8 bytes travel beside a tag in a line of 16, and
// whoever takes them waits for the tag in every line: no fence, no signal, one hop instead of a confirmed store and a
// hop, but twice the bytes. The caller chooses tags; they are not 0, and not the one that the line holds from before:
// count up. Lines are overwritten, not queued: put new ones when the last were taken. Orders nothing but the data
// itself. A line is a ggas_tagged; what it consists of (detail/tagged_line.cuh) only the library needs to know.
GGAS_HOST_DEVICE constexpr size_t ggas_tagged_lines(size_t bytes) { return (bytes + 7) / 8; }  // lines they take
// Puts n elements into lines at a node, which may be any address of the window; posted on return, and the source may be
// overwritten. With and without a NIC these are stores of 16 bytes, in no queue.
template <class T>
GGAS_DEVICE ggas_status ggas_put_tagged(ggas_tagged* remote, const T* local, size_t n, uint32_t tag);
template <class T>
GGAS_DEVICE ggas_status ggas_put_tagged_warp(ggas_tagged* remote, const T* local, size_t n, uint32_t tag);
template <class T>
GGAS_DEVICE ggas_status ggas_put_tagged_block(ggas_tagged* remote, const T* local, size_t n, uint32_t tag);
// Waits for n elements with this tag in lines here and writes them to `local`, which may be shared memory too. The
// group sees them on return, and the lines may be put again. After a time-out some elements may have been written.
template <class T>
GGAS_DEVICE ggas_status ggas_take_tagged(T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                         uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_take_tagged_warp(T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                              uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_take_tagged_block(T* local, const ggas_tagged* lines, size_t n, uint32_t tag,
                                               uint64_t timeout_ns);

// ---- notifications: a put may leave a record in a ring of the target, and so may a call of its own. `cookie` is any
// number; `to_queue` the queue at the target whose ring is meant. Posted as nbi.
struct ggas_notification {
  uint64_t cookie;
  uint32_t size;    // bytes of the put; of one longer than 8 MB, which travels in pieces, those of the last piece
  uint32_t node;    // who sent it
  uint32_t queue;   // with which queue
  uint32_t kind;    // ggas_note_*
  uint32_t code;    // ST_* of docs/rma.md, 0: all went well
  uint32_t action;  // op of the descriptor
};
enum ggas_note_kind {
  ggas_note_requester = 0,
  ggas_note_arrived = 1,
  ggas_note_served = 2,
  ggas_note_error = 3,  // an operation of this queue failed
  ggas_note_lost = 4,   // `cookie` notifications were dropped before this one
};
template <class T>
GGAS_DEVICE ggas_status ggas_put_notify(T* remote, const T* local, size_t n, uint64_t cookie, int to_queue,
                                        uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_notify_warp(T* remote, const T* local, size_t n, uint64_t cookie, int to_queue,
                                             uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_notify(T* remote, T value, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                              const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_put_value_notify_warp(T* remote, T value, uint64_t cookie, int to_queue,
                                                   uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
GGAS_DEVICE ggas_status ggas_notify(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                    const ggas_queue& q = ggas_queue::of_block());
GGAS_DEVICE ggas_status ggas_notify_warp(int node, uint64_t cookie, int to_queue, uint64_t timeout_ns,
                                         const ggas_queue& q = ggas_queue::of_block());
// Takes the next notification of a queue; with `some` as many as there are, at least one, at most `most`; with `all`
// exactly n. `taken` says how many were written to `notes`, after a time-out too. ggas_peer_error: taken, and one of
// them reports a failure or a loss. Each notification is taken once, whoever waits. A time-out of 0 tests.
GGAS_DEVICE ggas_status ggas_notification_wait(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q);
GGAS_DEVICE ggas_status ggas_notification_wait_warp(ggas_notification* note, uint64_t timeout_ns, const ggas_queue& q);
GGAS_DEVICE ggas_status ggas_notification_wait_some(ggas_notification* notes, size_t most, size_t* taken,
                                                    uint64_t timeout_ns, const ggas_queue& q);
GGAS_DEVICE ggas_status ggas_notification_wait_all(ggas_notification* notes, size_t n, size_t* taken,
                                                   uint64_t timeout_ns, const ggas_queue& q);

// ---- waiting for flags in an array here, as ggas_wait_until. any: `index` gets the first found that holds; some:
// `indices` (room for n) and `count` get all that hold, at least one; all: every one. Tests are waits with time-out 0.
// With a mask flag i is left out where ignore[i] is not 0; where all are, the call returns ggas_ok at once, with index
// n and count 0.
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_any(const T* flags, size_t n, ggas_cmp cmp, T value, size_t* index,
                                            uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_some(const T* flags, size_t n, ggas_cmp cmp, T value, size_t* indices,
                                             size_t* count, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all(const T* flags, size_t n, ggas_cmp cmp, T value, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all_warp(const T* flags, size_t n, ggas_cmp cmp, T value, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all_block(const T* flags, size_t n, ggas_cmp cmp, T value, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_any(const T* flags, size_t n, const int* ignore, ggas_cmp cmp, T value,
                                            size_t* index, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_some(const T* flags, size_t n, const int* ignore, ggas_cmp cmp, T value,
                                             size_t* indices, size_t* count, uint64_t timeout_ns);
template <class T>
GGAS_DEVICE ggas_status ggas_wait_until_all(const T* flags, size_t n, const int* ignore, ggas_cmp cmp, T value,
                                            uint64_t timeout_ns);
template <class T>
GGAS_DEVICE bool ggas_test_any(const T* flags, size_t n, ggas_cmp cmp, T value, size_t* index);
template <class T>
GGAS_DEVICE bool ggas_test_all(const T* flags, size_t n, ggas_cmp cmp, T value);

// ---- atomics on 4- and 8-byte integers, float and double of any node, the own one included. Words of floating point
// take add, min, max, swap and cas (of bits); behind a NIC all but the last two are a loop of cas, a way to and fro
// each turn, and complete when the call returns. Through a queue they are exact among themselves; plain accesses and
// the GPU's own atomics to the same word are not ordered with them. Fetching calls return when *old is there; after a
// time-out the outcome is unknown. The others are posted as nbi.
enum ggas_atomic : int {
  ggas_atomic_add,
  ggas_atomic_swap,
  ggas_atomic_cas,
  ggas_atomic_and,
  ggas_atomic_or,
  ggas_atomic_xor,
  ggas_atomic_min,
  ggas_atomic_max
};
// The word becomes `operand` under `what`; cas: if it was `compare`.
template <class T>
GGAS_DEVICE ggas_status ggas_atomic_fetch(ggas_atomic what, T* remote, T operand, T compare, T* old,
                                          uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_atomic_post(ggas_atomic what, T* remote, T operand, T compare, uint64_t timeout_ns,
                                         const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_atomic_fetch_warp(ggas_atomic what, T* remote, T operand, T compare, T* old,
                                               uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_fetch_add(T* remote, T v, T* old, uint64_t timeout_ns,
                                       const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_fetch_swap(T* remote, T v, T* old, uint64_t timeout_ns,
                                        const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_compare_swap(T* remote, T compare, T v, T* old, uint64_t timeout_ns,
                                          const ggas_queue& q = ggas_queue::of_block());
template <class T>
GGAS_DEVICE ggas_status ggas_add(T* remote, T v, uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());

#include "ggas/detail/amo.cuh"
#include "ggas/detail/notify.cuh"
#include "ggas/detail/put.cuh"
#include "ggas/detail/rma_descriptor.cuh"
#include "ggas/detail/rma_queue.cuh"
#include "ggas/detail/signal.cuh"
#include "ggas/detail/tagged.cuh"
