// SPDX-License-Identifier: Apache-2.0
// Messages that take their turn in a stream: docs/messages.md#on-a-stream. For files with kernels; includes message.cuh
// and on_stream.cuh. A call is made for one rank of the stream's node, of ranks that are blocks, and meets the messages
// of kernels. While it runs no kernel and no other stream calls for that rank. Graphs may hold it.
//
// The status word of the report has the first failure; after one the calls do not wait. Errors, at once:
// errc::bad_argument: ranks that are not blocks, a rank or tag that does not exist, no buffer.
#pragma once

#include "ggas/message.cuh"
#include "ggas/on_stream.cuh"

#include "ggas/detail/stream/messages.cuh"

namespace ggas {

/// Queues ggas_messages_begin() for all ranks of the node, once before the first message. All nodes do it.
/// Order: as all calls on a stream; a barrier of the node's ranks.
[[maybe_unused]] static result<> begin_messages_on_stream(cluster& c, const stream& s, const ggas_messages& m,
                                                          const stream_report& report) {
  if (auto ok = detail::check_stream_rank(s, m, detail::ranks_of_node(m) * s.node, "begin_messages_on_stream"); !ok)
    return ok;
  return launch_grid(c, s, m.blocks.blocks, m.threads, detail::begin_messages_kernel, m, report);
}
/// Queues a send of `n` elements from memory of the GPU. Later work in the stream may overwrite them.
/// Order: as all calls on a stream; after other messages of the rank to the same receiver.
template <class T>
static result<> send_on_stream(cluster& c, const stream& s, const ggas_messages& m, int rank, const T* data, size_t n,
                               int to, int tag, const stream_report& report) {
  if (auto ok = detail::check_stream_rank(s, m, rank, "send_on_stream"); !ok) return ok;
  if (!detail::target_good(m, to, tag) || !detail::buffer_good(data, n))
    return error{errc::bad_argument, "send_on_stream: rank " + std::to_string(to) + ", tag " + std::to_string(tag) +
                                         ": must be a rank below " + std::to_string(detail::rank_count(m)) +
                                         ", a tag of 0 or more, and a buffer"};
  const size_t bytes = n * sizeof(T),
               shared = bytes > m.short_bytes ? 0 : bytes;  // a long one is the receiver's to copy
  return detail::launch_message(c, s, shared, detail::send_short_kernel, detail::send_message_kernel,
                                detail::played_by_stream(m, rank, detail::message_threads(shared)),
                                reinterpret_cast<const char*>(data), bytes, to, tag, report);
}
/// Queues a receive of at most `n` elements into memory of the GPU. `got`: in the segment, or null.
/// Order: as all calls on a stream; later work in the stream sees the data.
template <class T>
static result<> recv_on_stream(cluster& c, const stream& s, const ggas_messages& m, int rank, T* data, size_t n,
                               int from, int tag, ggas_message* got, const stream_report& report) {
  if (auto ok = detail::check_stream_rank(s, m, rank, "recv_on_stream"); !ok) return ok;
  if (!detail::source_good(m, from, tag) || !detail::buffer_good(data, n))
    return error{errc::bad_argument, "recv_on_stream: rank " + std::to_string(from) + ", tag " + std::to_string(tag) +
                                         ": must be a rank below " + std::to_string(detail::rank_count(m)) +
                                         " or any, a tag or any, and a buffer"};
  const size_t most = n * sizeof(T);
  return detail::launch_message(c, s, most, detail::receive_short_kernel, detail::receive_message_kernel,
                                detail::played_by_stream(m, rank, detail::message_threads(most)),
                                reinterpret_cast<char*>(data), most, from, tag, got, report);
}

}  // namespace ggas
