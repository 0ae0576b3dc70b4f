// SPDX-License-Identifier: Apache-2.0
// Messages between ranks that are threads, warps or blocks of resident grids on all nodes: docs/messages.md. The host
// makes ggas_messages by ggas::message_space (ggas/messages.hpp). Includes ggas.cuh.
//
// The first argument says what the rank is, and all its threads call with the same arguments. Buffers lie in registers,
// local, shared or global memory; if several threads pass a variable, the first one's is used. Any plain type.
// Every call makes progress for all requests and messages of the rank.
// ggas_bad_argument: a group that is not the kind of rank; a rank or tag that does not exist; all requests in use; a
// message that is longer than the buffer (its length is in *got, the message is lost).
#pragma once

#include "ggas/ggas.cuh"

#include "ggas/detail/message/progress.cuh"
#ifndef GGAS_LINKED
#include "ggas/detail/message/progress_long.cuh"
#endif

constexpr int ggas_any_source = -1, ggas_any_tag = -1;

// What was received, or may be: its source and tag, bytes, and the sender's word. Without message: -1, -1, 0, 0.
struct ggas_message {
  int source, tag;
  uint32_t info;
  uint64_t bytes;
};
// A message under way; 0: none. Belongs to the rank that made it.
struct ggas_message_request {
  uint64_t number;
};

#include "ggas/detail/message/calls.cuh"

// ---- ranks
/// The caller's rank.
GGAS_DEVICE int ggas_message_rank(const ggas_messages& m) {
  return ggas_node() * ggas::detail::ranks_of_node(m) + static_cast<int>(ggas::detail::index_of_caller(m));
}
/// How many ranks there are on all nodes.
GGAS_DEVICE int ggas_message_ranks(const ggas_messages& m) { return ggas::detail::rank_count(m); }

/// The first call of a launch, by all threads of all its blocks. Removes messages and requests of earlier launches.
/// Order: a barrier of the node's ranks.
/// Cost: two hops between nodes, and a barrier.
/// Errors: ggas_bad_argument: `m` was not made by ggas::message_space; ggas_timed_out, ggas_broken, ggas_aborted.
GGAS_DEVICE ggas_status ggas_messages_begin(const ggas_messages& m, uint64_t timeout_ns) {
  GGAS_CALL(ggas_messages_begin, ggas::block{}, (void)0, ggas::detail::begin_messages(m, timeout_ns));
}

// ---- calls that wait
/// Sends `n` elements; they may be written when it returns. `info`: a word that the receiver finds in `*got`.
/// Order: earlier stores of the caller are visible to the receiver; the message follows earlier ones to that rank.
/// Cost: a fence and a line of 16 bytes for each 8; a message of more than short_bytes waits for its receiver.
/// Errors: those of all calls of messages; ggas_timed_out: not sent; ggas_aborted.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_send(const G& group, const ggas_messages& m, const T* data, size_t n, int to, int tag,
                                  uint64_t timeout_ns, uint32_t info = 0) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_send, group, record_message(group, m, ggas::waited_for::receipt, this_call, s, timeout_ns, to, tag),
            send_message(group, m, data, n * sizeof(T), to, tag, info, timeout_ns));
}
/// Receives the oldest message that fits. `got` may be null.
/// Order: earlier stores of the sender are visible; matching messages of a rank are received in the order of sending.
/// Cost: a load for each 8 bytes, however many messages wait.
/// Errors: those of all calls of messages; ggas_timed_out, ggas_aborted; ggas_bad_argument: longer than `n`.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_recv(const G& group, const ggas_messages& m, T* data, size_t n, int from, int tag,
                                  ggas_message* got, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_recv, group, record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, from, tag),
            receive_message(group, m, data, n * sizeof(T), from, tag, got, timeout_ns));
}
/// Sends and receives at once; the buffers do not overlap.
/// Order: as ggas_send and ggas_recv.
/// Cost: of both together.
/// Errors: those of all calls of messages; those of both.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_sendrecv(const G& group, const ggas_messages& m, const T* data, size_t n, int to, int tag,
                                      T* received, size_t most, int from, int received_tag, ggas_message* got,
                                      uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_recv, group,
            record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, from, received_tag),
            exchange_messages(group, m, data, n * sizeof(T), to, tag, 0, received, most * sizeof(T), from, received_tag,
                              got, timeout_ns));
}
/// Waits for a message that fits, and does not receive it. With time-out 0 it only tests (iprobe).
/// Order: none before the receive.
/// Cost: a look into the rings of the rank.
/// Errors: those of all calls of messages; ggas_timed_out, ggas_aborted.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_probe(const G& group, const ggas_messages& m, int from, int tag, ggas_message* got,
                                   uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_probe, group, record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, from, tag),
            probe_message(group, m, from, tag, got, timeout_ns));
}

// ---- calls that do not wait. The buffer is the library's until the request has ended.
/// Begins to send. The buffer must not change until the request has ended.
/// Order: as ggas_send.
/// Cost: as a send, without a wait.
/// Errors: those of all calls of messages; none else.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_isend(const G& group, const ggas_messages& m, const T* data, size_t n, int to, int tag,
                                   ggas_message_request* request, uint32_t info = 0) {
  return ggas::detail::begin_send(group, m, data, n * sizeof(T), to, tag, info, request);
}
/// Begins to receive. The buffer must not be used until the request has ended.
/// Order: as ggas_recv, from when it is called.
/// Cost: a look at the messages that wait.
/// Errors: those of all calls of messages; none else.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_irecv(const G& group, const ggas_messages& m, T* data, size_t n, int from, int tag,
                                   ggas_message_request* request) {
  return ggas::detail::begin_receive(group, m, data, n * sizeof(T), from, tag, request);
}
/// Waits until one of `n` requests has ended: number `*which`, which becomes null. With time-out 0 it only tests.
/// If all are null: ggas_ok at once, *which is -1. Order: as the call that has ended. Cost: a look at the requests and
/// rings of the rank each turn. Errors: those of all calls of messages; ggas_timed_out: the requests continue;
/// ggas_aborted; those of the request that ended.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_wait_any(const G& group, const ggas_messages& m, ggas_message_request* requests, int n,
                                      int* which, ggas_message* got, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait, group,
            record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, any_source, any_tag),
            wait_for_any(group, m, requests, n, which, got, timeout_ns));
}
/// Waits until a request has ended, as ggas_wait_any.
/// Order: that of the calls whose requests have ended.
/// Cost: polls of the rank's requests and rings.
/// Errors: those of ggas_wait_any.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_wait(const G& group, const ggas_messages& m, ggas_message_request* request,
                                  ggas_message* got, uint64_t timeout_ns) {
  int which;
  return ggas_wait_any(group, m, request, 1, &which, got, timeout_ns);
}
/// Waits until all requests have ended or the time is over. `got`: array for all, or null. Returns the first failure.
/// Order: that of the calls whose requests have ended.
/// Cost: polls of the rank's requests and rings.
/// Errors: those of ggas_wait_any.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_wait_all(const G& group, const ggas_messages& m, ggas_message_request* requests, int n,
                                      ggas_message* got, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait, group,
            record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, any_source, any_tag),
            wait_for_all(group, m, requests, n, got, timeout_ns));
}
/// Ends a request now. ggas_ok: the request had ended before; ggas_timed_out: its message was not received or sent.
/// Order: none.
/// Cost: a look at the rings of the rank.
/// Errors: those of all calls of messages; those of the request, if it had ended.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_cancel(const G& group, const ggas_messages& m, ggas_message_request* request) {
  return ggas::detail::cancel_request(group, m, request);
}
