// SPDX-License-Identifier: Apache-2.0
// Communication on a stream: calls of the host that queue a transfer, a signal, a wait or a collective on the node's
// stream, and return at once. No CPU is in the data path. A call may be captured into a CUDA graph, and the graph
// launched any number of times, because all counters are in GPU memory. Guide: docs/device-api.md (On a stream),
// docs/how-to/stencil.md.
//
// * Streams: the number of a node stands for its own stream; with nvcc user_stream(node, stream) is a stream that the
//   program made.
// * Results: those of ggas::launch. Here they only say whether the work could be queued.
// * Order: a call begins when everything queued before it in the stream has ended, and sees its memory; later work in
//   the stream sees the result of the call. Data put to another node are ordered there by a signal, a barrier or a
//   collective.
// * Linkage: the calls and their kernels belong to the translation unit, as its device context does. A function in a
//   header of several units that uses them (an inline function, a template, a class) needs internal linkage too;
//   otherwise the linker keeps one unit's calls for all.
// * Graphs contain the addresses of the cluster's segments: destroy them before the cluster. They remain valid after
//   grow(); a device context that is set again is used from a graph's next launch on.
// * Several GPUs in one process: load kernels eagerly (CUDA_MODULE_LOADING=EAGER), instantiate and upload graphs
//   (cudaGraphUpload) and allocate memory before any stream waits for another GPU. Each of these may wait for a GPU
//   that itself waits for a stream that is not filled yet.
#pragma once

#include <optional>

#include "ggas/launch.hpp"

namespace ggas {

// The time-out of a queued call, and the status word for its result. A report is required: a put that timed out ends
// before its data have arrived, and without a status the end of the stream would be mistaken for their arrival.
struct stream_report {
  constexpr stream_report(uint64_t timeout_ns, uint64_t* status) : timeout_ns(timeout_ns), status(status) {}

  uint64_t timeout_ns;  // of the call, from its begin on the GPU
  // A word in the own segment, or in memory of the host that the GPU reaches. The first failure (a ggas_status) is
  // written there and stays, so set the word to ggas_ok before. A wait that finds a failure there returns at once. May
  // be null: no thread is informed.
  uint64_t* status;
};

// Path for data of datatypes (ggas/typed_on_stream.cuh): the kernel for boxes; the kernels for runs; the walk of
// records, which works for every layout; or (on a GPU) the copy engine, for dense data and rows. Staged: a put packs
// into memory of the target's GPU, and a kernel on that GPU unpacks. Direct: as automatic, but never staged.
enum class typed_path { automatic, box, runs, records, engine, staged, direct };

// Launch of a collective. Fields that are 0 (ggas_auto) are chosen by the size of the vector, from measured tables
// (ggas::tuning). All nodes must pass the same launch. Few blocks leave multiprocessors to kernels of other streams.
// Choose a method only for comparisons, or if you know better than the table.
struct stream_shape {
  unsigned blocks = 0;   // more than 128 are 128
  unsigned threads = 0;  // of a block; more than 512 are 512
  // Only for allreduce and reduce: a method that the grid form accepts, else the status is ggas_bad_argument.
  ggas_method method = ggas_auto;
  // Only for calls with datatypes, which take up to 1024 blocks. A path that does not fit is errc::bad_argument.
  typed_path path = typed_path::automatic;
};

// Transfers of `n` elements, which may be 0, between the own segment and a node's. On a GPU the copy engine moves them;
// then nothing is written to the status word.

/// Queues a put.
/// Order: as all calls on a stream; at the target by a signal, a barrier or a collective.
/// Errors, at once: errc::bad_argument: elements outside of these segments.
template <class T>
static result<> put_on_stream(cluster& c, const stream& s, global_ptr<T> to, const T* from, size_t n,
                              const stream_report& report);
/// Queues a get.
/// Order: later work in the stream sees the data.
/// Errors, at once: errc::bad_argument: elements outside of these segments.
template <class T>
static result<> get_on_stream(cluster& c, const stream& s, T* to, global_ptr<T> from, size_t n,
                              const stream_report& report);

/// Queues a put, and then sets a word at the same node or adds to it. `n` may be 0.
/// Order: a thread that sees the word sees the data.
/// Errors, at once: errc::bad_argument; on a GPU nothing else can fail.
template <class T>
static result<> put_signal_on_stream(cluster& c, const stream& s, global_ptr<T> to, const T* from, size_t n,
                                     global_ptr<uint64_t> signal, uint64_t value, ggas_signal_op op,
                                     const stream_report& report);

/// Waits until `*signal cmp value`; `signal` lies in the own segment.
/// Order: an acquire.
/// Errors: errc::bad_argument at once; ggas_timed_out in the status word.
[[maybe_unused]] static result<> signal_wait_on_stream(cluster& c, const stream& s, const uint64_t* signal,
                                                       ggas_cmp cmp, uint64_t value, const stream_report& report);
/// Waits until *signal >= *taken + n, then adds n to *taken: for n more signals of a sender that adds 1 each time. For
/// graphs, which make the same call in each launch. Both words lie in the own segment; only the caller uses *taken.
/// Order: an acquire.
/// Errors: errc::bad_argument at once; ggas_timed_out in the status word.
[[maybe_unused]] static result<> signal_take_on_stream(cluster& c, const stream& s, const uint64_t* signal,
                                                       uint64_t* taken, uint64_t n, const stream_report& report);

// Collectives of all nodes, or of a team, each in a stream of its own and in the same order. They are the collectives
// of the device API (ggas/collective.cuh), with the same rules, and with the same errors in the status word. They may
// be mixed with calls from kernels of the same stream. Two streams of a node that may run collectives at the same time
// need teams with different ids. A forbidden overlap of `src` and `dst` is errc::bad_argument, at once.

using stream_team = std::optional<ggas_team>;  // empty: all nodes

/// ggas_barrier_grid() on a stream: every store of earlier work of the streams is visible to all members after it.
[[maybe_unused]] static result<> barrier_on_stream(cluster& c, const stream& s, const stream_report& report,
                                                   const stream_team& team = {});
/// ggas_sync_grid() on a stream: all members have arrived; orders no data.
[[maybe_unused]] static result<> sync_on_stream(cluster& c, const stream& s, const stream_report& report,
                                                const stream_team& team = {});
/// ggas_allreduce_grid() on a stream.
template <class T>
static result<> allreduce_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op,
                                    const stream_report& report, const stream_shape& shape = {},
                                    const stream_team& team = {});
/// ggas_reduce_grid() on a stream.
template <class T>
static result<> reduce_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op, int root,
                                 const stream_report& report, const stream_shape& shape = {},
                                 const stream_team& team = {});
/// ggas_broadcast_grid() on a stream.
template <class T>
static result<> broadcast_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int root,
                                    const stream_report& report, const stream_shape& shape = {},
                                    const stream_team& team = {});
/// ggas_allgather_grid() on a stream.
template <class T>
static result<> allgather_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n,
                                    const stream_report& report, const stream_shape& shape = {},
                                    const stream_team& team = {});
/// ggas_alltoall_grid() on a stream.
template <class T>
static result<> alltoall_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n,
                                   const stream_report& report, const stream_shape& shape = {},
                                   const stream_team& team = {});
/// ggas_gather_grid() on a stream.
template <class T>
static result<> gather_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int root,
                                 const stream_report& report, const stream_shape& shape = {},
                                 const stream_team& team = {});
/// ggas_scatter_grid() on a stream.
template <class T>
static result<> scatter_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int root,
                                  const stream_report& report, const stream_shape& shape = {},
                                  const stream_team& team = {});
/// ggas_permute_grid() on a stream.
template <class T>
static result<> permute_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, int to,
                                  const stream_report& report, const stream_shape& shape = {},
                                  const stream_team& team = {});
/// ggas_reducescatter_grid() on a stream.
template <class T>
static result<> reducescatter_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op,
                                        const stream_report& report, const stream_shape& shape = {},
                                        const stream_team& team = {});
/// ggas_scan_grid() on a stream.
template <class T>
static result<> scan_on_stream(cluster& c, const stream& s, T* dst, const T* src, size_t n, ggas_op op,
                               ggas_scan_kind kind, const stream_report& report, const stream_shape& shape = {},
                               const stream_team& team = {});

/// Launches a kernel (also a user's), as ggas::launch does. The kernel may be loaded while the one before it in the
/// stream still runs, which hides most of the launch time. The kernel calls ggas_after_stream() before it accesses
/// memory. Its blocks occupy the GPU while they wait there. If the kernel before waits for a kernel of another stream
/// of the same GPU, leave room for the other kernel, or use ggas::launch.
template <class... P>
static result<> launch_dependent(cluster& c, const stream& s, extent grid, const block_shape& block,
                                 void (*kernel)(P...), std::type_identity_t<P>... args);

}  // namespace ggas

/// Called by every thread: waits until earlier work of the stream has ended, and sees its memory.
GGAS_DEVICE void ggas_after_stream();

#include "ggas/detail/stream/on_stream.cuh"
