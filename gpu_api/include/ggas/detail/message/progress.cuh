// SPDX-License-Identifier: Apache-2.0
// Calls of messages that are functions of their own, so they take few values and no reference. Those of requests leave
// their results in the desk. Included by message.cuh.
#pragma once

#include "ggas/detail/message/state.cuh"

namespace ggas::detail {

struct received_message {
  ggas_status status;
  int source, tag;
  uint32_t info;
  uint64_t bytes;
};

template <class G>
GGAS_APART ggas_status send_now(message_rank r, const char* data, uint64_t bytes, int to, int tag, uint32_t info,
                                uint64_t timeout_ns);
template <class G>
GGAS_APART received_message receive_now(message_rank r, char* to, uint64_t most, int from, int tag, uint32_t info,
                                        uint64_t timeout_ns);
// Of a rank that is a block: its message is one record, of more bytes than its first warp moves at once.
constexpr uint64_t bytes_of_warp_words = 256;
template <class G>
GGAS_APART ggas_status send_long_record(message_rank r, const char* data, uint64_t bytes, int to, int tag,
                                        uint32_t info, uint64_t timeout_ns);
// Makes a request, and does of it what can be done at once. Its number is in the desk.
template <class G>
GGAS_APART ggas_status begin_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes,
                                     int peer, int tag, uint32_t info);
// Until one of a set of requests has ended; its number is in the desk, 0: none has. `ends`: time-out or not, all end.
template <class G>
GGAS_APART ggas_status wait_for_requests(message_rank r, uint64_t set, bool ends, uint64_t timeout_ns);
template <class G>
GGAS_APART ggas_status wait_for_message(message_rank r, int from, int tag, uint64_t timeout_ns);

}  // namespace ggas::detail
