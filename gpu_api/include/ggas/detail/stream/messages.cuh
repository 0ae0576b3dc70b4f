// SPDX-License-Identifier: Apache-2.0
// Kernels of messages on a stream: the first block is the rank. Included by message_on_stream.cuh.
#pragma once

#include <string>

#include "ggas/detail/stream/on_stream.cuh"
#include "ggas/detail/stream/shared_messages.cuh"

namespace ggas::detail {

// Every block of a launch, which has so many threads, calls for rank `rank` of its node.
[[maybe_unused]] static ggas_messages played_by_stream(ggas_messages m, int rank, unsigned threads) {
  m.blocks.first = 0u - static_cast<unsigned>(rank % ranks_of_node(m));
  m.threads = threads;
  return m;
}
GGAS_DEVICE ggas_messages of_this_block(ggas_messages m) {
  m.blocks.first += block_rank();
  return m;
}
// One warp for a short message: more threads take longer to begin. Blocks of a cluster begin together.
constexpr size_t bytes_of_warp = 2048;
constexpr unsigned message_threads(size_t bytes) { return bytes <= bytes_of_warp ? 32 : most_stream_threads; }
template <class... P>
static result<> launch_message(cluster& c, const stream& s, size_t bytes, void (*short_kernel)(P...),
                               void (*kernel)(P...), std::type_identity_t<P>... args) {
  if (bytes <= bytes_of_warp) return launch_dependent(c, s, 1, message_threads(bytes), short_kernel, args...);
#ifdef __CUDACC__
  const unsigned blocks = cluster_of(c.device(s.node), put_blocks(bytes));
  return launch_clusters(c, s, blocks, message_threads(bytes), blocks, kernel, args...);
#else
  return launch_dependent(c, s, 1, message_threads(bytes), kernel, args...);
#endif
}

[[maybe_unused]] static result<> check_stream_rank(const stream& s, const ggas_messages& m, int rank,
                                                   const char* call) {
  const auto bad = [&](const std::string& why) { return error{errc::bad_argument, std::string(call) + ": " + why}; };
  if (m.kind != ggas_rank_is_block || m.threads == 0) return bad("ranks must be blocks");
  if (rank < 0 || rank >= rank_count(m) || rank / ranks_of_node(m) != s.node)
    return bad("rank " + std::to_string(rank) + " is none of node " + std::to_string(s.node));
  return {};
}

// After a failure no call of the stream waits.
GGAS_DEVICE uint64_t time_of(const stream_report& report) {
  return report.status && load_relaxed(report.status) != ggas_ok ? 0 : report.timeout_ns;
}

[[maybe_unused]] static __global__ void begin_messages_kernel(ggas_messages m, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_messages_begin(m, time_of(report)));
}
// Short messages, and sends that wait for their receiver: by one warp.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(32)
    send_short_kernel(ggas_messages m, const char* data, size_t bytes, int to, int tag, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_send(block_group{}, m, data, bytes, to, tag, time_of(report)));
}
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(32)
    receive_short_kernel(ggas_messages m, char* data, size_t most, int from, int tag, ggas_message* got,
                         stream_report report) {
  ggas_after_stream();
  ggas_message found{};
  tell(report.status, ggas_recv(block_group{}, m, data, most, from, tag, &found, time_of(report)));
  if (got && thread_rank() == 0) *got = found;
}

// Others: all threads move a part. Of a rank that is a block, as ggas_send and ggas_recv.
GGAS_DEVICE ggas_status send_on_stream(const ggas_messages& m, const char* data, size_t bytes, int to, int tag,
                                       uint64_t timeout_ns) {
  GGAS_CALL(ggas_send, block_group{},
            if (block_rank() == 0)
                record_message(block_group{}, m, waited_for::receipt, this_call, s, timeout_ns, to, tag),
            send_shared(m, data, bytes, to, tag, timeout_ns));
}
GGAS_DEVICE ggas_status receive_on_stream(const ggas_messages& m, char* data, size_t most, int from, int tag,
                                          ggas_message& got, uint64_t timeout_ns) {
  GGAS_CALL(ggas_recv, block_group{},
            if (block_rank() == 0)
                record_message(block_group{}, m, waited_for::message, this_call, s, timeout_ns, from, tag),
            receive_shared(m, data, most, from, tag, got, timeout_ns));
}
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(most_stream_threads)
    send_message_kernel(ggas_messages m, const char* data, size_t bytes, int to, int tag, stream_report report) {
  begin_launch();
  ggas_after_stream();
  const ggas_status s = send_on_stream(of_this_block(m), data, bytes, to, tag, time_of(report));
  if (block_rank() == 0) tell(report.status, s);
}
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(most_stream_threads)
    receive_message_kernel(ggas_messages m, char* data, size_t most, int from, int tag, ggas_message* got,
                           stream_report report) {
  begin_launch();
  ggas_after_stream();
  ggas_message found{};
  const ggas_status s = receive_on_stream(of_this_block(m), data, most, from, tag, found, time_of(report));
  if (block_rank() != 0) return;
  tell(report.status, s);
  if (got && thread_rank() == 0) *got = found;
}

}  // namespace ggas::detail
