// SPDX-License-Identifier: Apache-2.0
// Kernels of messages on a stream: each is one block, the rank. Included by message_on_stream.cuh.
#pragma once

#include <string>

#include "ggas/detail/message/calls.cuh"
#include "ggas/detail/stream/on_stream.cuh"

namespace ggas::detail {

// Block 0 of a grid of one is rank `rank` of its node.
[[maybe_unused]] static ggas_messages played_by_stream(ggas_messages m, int rank) {
  m.blocks.first = 0u - static_cast<unsigned>(rank % ranks_of_node(m));
  return m;
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
[[maybe_unused]] static __global__ void send_message_kernel(ggas_messages m, const char* data, size_t bytes, int to,
                                                            int tag, stream_report report) {
  ggas_after_stream();
  tell(report.status, ggas_send(block_group{}, m, data, bytes, to, tag, time_of(report)));
}
[[maybe_unused]] static __global__ void receive_message_kernel(ggas_messages m, char* data, size_t most, int from,
                                                               int tag, ggas_message* got, stream_report report) {
  ggas_after_stream();
  ggas_message found{};
  tell(report.status, ggas_recv(block_group{}, m, data, most, from, tag, &found, time_of(report)));
  if (got && thread_rank() == 0) *got = found;
}

}  // namespace ggas::detail
