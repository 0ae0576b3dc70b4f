// SPDX-License-Identifier: Apache-2.0
// Calls that move on the requests of a rank. Their results are in the desk; they are functions of their own, take few
// values and no reference. Included by message.cuh.
#pragma once

#include "ggas/detail/message/state.cuh"

namespace ggas::detail {

// Makes a request and waits for it.
template <class G>
GGAS_APART ggas_status run_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes, int peer,
                                   int tag, uint32_t info, uint64_t timeout_ns);
// Makes one, and does of it what can be done at once. Its number is in the desk.
template <class G>
GGAS_APART ggas_status begin_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes,
                                     int peer, int tag, uint32_t info);
// Until one of a set of requests has ended; its number is in the desk, 0: none has. `ends`: time-out or not, all end.
template <class G>
GGAS_APART ggas_status wait_for_requests(message_rank r, uint64_t set, bool ends, uint64_t timeout_ns);
template <class G>
GGAS_APART ggas_status wait_for_message(message_rank r, int from, int tag, uint64_t timeout_ns);

}  // namespace ggas::detail
