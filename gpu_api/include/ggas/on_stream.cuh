// SPDX-License-Identifier: Apache-2.0
// Communication that takes its turn in a stream: calls of the host that queue a transfer, a signal, a wait or a
// collective after what the node's stream holds, and return at once. No CPU in the data path; a call may be captured
// into a CUDA graph, and the graph be launched again and again: whatever counts, counts in GPU memory. Guide:
// docs/device-api.md (On a stream), docs/how-to/stencil.md.
//
// A number of a node is its own stream; with nvcc user_stream(node, stream) is one that the program made. The calls
// return what ggas::launch returns, here only whether the work could be queued.
//
// Order: a call begins when everything queued before it in the stream has ended, and sees its memory; what comes after
// sees what the call brought. What a put brought to another node is ordered there by a signal, a barrier or a
// collective.
//
// The calls and their kernels belong to the translation unit, as its device context does. What calls them from a header
// that several units include (an inline function, a template, a class) needs internal linkage too, or the linker keeps
// one unit's calls for all.
//
// Graphs hold the addresses of the cluster's segments: destroy them before it. After grow() they still hold; a device
// context that is set again counts from a graph's next launch.
//
// With several GPUs in one process: load kernels eagerly (CUDA_MODULE_LOADING=EAGER), instantiate and upload graphs
// (cudaGraphUpload) and allocate memory before any stream waits for another GPU. Each of them may wait for a GPU that
// waits for the stream that was to be filled next.
#pragma once

#include <optional>

#include "ggas/launch.hpp"

namespace ggas {

// How a queued call is informed that time is up, and reports how it ended. There is no empty one: a put whose time is
// up ends before its data are there, and the end of the stream would be taken for their arrival.
struct stream_report {
  constexpr stream_report(uint64_t timeout_ns, uint64_t* status) : timeout_ns(timeout_ns), status(status) {}

  uint64_t timeout_ns;  // of the call, from its begin on the GPU
  // A word in the own segment, or in memory of the host that the GPU reaches. The first failure (a ggas_status) is
  // written there and stays: make it ggas_ok before. A wait that finds a failure there returns at once. May be null:
  // no thread is informed.
  uint64_t* status;
};

// Who moves data of datatypes (ggas/typed_on_stream.cuh): the kernel of boxes, that of lists of equal runs, the walk of
// records, which takes everything, or (on a GPU) the copy engine, which takes what lies dense or in rows.
enum class typed_path { automatic, box, runs, records, engine };

// How a collective is launched: what is left 0 (ggas_auto) is chosen by the size of the vector, as measured
// (ggas::tuning). The same on every node. Few blocks leave multiprocessors to kernels of other streams; a method is for
// who compares, or knows better than a table.
struct stream_shape {
  unsigned blocks = 0;   // more than 128 are 128
  unsigned threads = 0;  // of a block; more than 512 are 512
  // Of allreduce and reduce: one that its grid form takes, else the status is ggas_bad_argument. The others have none.
  ggas_method method = ggas_auto;
  // Of calls with datatypes, which take up to 1024 blocks: one that does not suit is errc::bad_argument.
  typed_path path = typed_path::automatic;
};

// Transfers of `n` elements, which may be 0, between the own segment and a node's. On a GPU the copy engine moves them;
// the status word then says nothing.

/// Queues a put.
/// Order: as all calls on a stream; at the target by a signal, a barrier or a collective.
/// Errors, at once: errc::bad_argument: elements that do not lie in these segments.
template <class T>
static result<> put_on_stream(cluster& c, const stream& s, global_ptr<T> to, const T* from, size_t n,
                              const stream_report& report);
/// Queues a get.
/// Order: what comes later in the stream sees the data.
/// Errors, at once: errc::bad_argument: elements that do not lie in these segments.
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
/// Waits until *signal >= *taken + n, then adds n to *taken: the n-th next signal of a sender that adds 1 each time.
/// For graphs, which make the same call each time they run. Both words lie in the own segment; *taken is the caller's
/// alone.
/// Order: an acquire.
/// Errors: errc::bad_argument at once; ggas_timed_out in the status word.
[[maybe_unused]] static result<> signal_take_on_stream(cluster& c, const stream& s, const uint64_t* signal,
                                                       uint64_t* taken, uint64_t n, const stream_report& report);

// Collectives of all nodes, or of a team, each in a stream of its own and in the same order. They are the collectives
// of the device API (ggas/collective.cuh), with the same rules and errors, in the status word, and may be mixed with
// calls from kernels of the same stream. Two streams of a node that may run collectives at the same time need teams of
// different ids. `src` and `dst` that overlap where they must not are errc::bad_argument, at once.

using stream_team = std::optional<ggas_team>;  // empty: all nodes

/// ggas_barrier_grid() on a stream: every store made before it, by earlier work of the streams, is visible to all
/// members after it.
[[maybe_unused]] static result<> barrier_on_stream(cluster& c, const stream& s, const stream_report& report,
                                                   const stream_team& team = {});
/// ggas_sync_grid() on a stream: all members have arrived, and nothing else.
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

/// ggas::launch of a kernel, also of the user's, that may be loaded while the one before it in the stream still runs,
/// which hides most of the launch. The kernel calls ggas_after_stream() before it accesses memory. Its blocks occupy
/// the GPU while they wait for that: if the kernel before waits for one of another stream of the same GPU, leave room
/// for that one, or use ggas::launch.
template <class... P>
static result<> launch_dependent(cluster& c, const stream& s, extent grid, const block_shape& block,
                                 void (*kernel)(P...), std::type_identity_t<P>... args);

}  // namespace ggas

/// Waits, by every thread, for the end of what is before in the stream, and sees its memory.
GGAS_DEVICE void ggas_after_stream();

#include "ggas/detail/stream/on_stream.cuh"
