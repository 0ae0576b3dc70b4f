// SPDX-License-Identifier: Apache-2.0
// Messages between ranks that are threads, warps or blocks of resident grids on all nodes: docs/messages.md. The host
// makes ggas_messages by ggas::message_space (ggas/messages.hpp). Includes ggas.cuh.
//
// The first argument says what the rank is, and all its threads call with the same arguments. Buffers lie in registers,
// local, shared or global memory; of several threads a variable is that of the first one. n elements of any plain type.
// Every call moves on all requests and messages of the rank.
// ggas_bad_argument: a group that is not the kind of rank, a rank or tag that does not exist, all requests in use; a
// message that is longer than the buffer, whose length is then in *got, and which is gone.
#pragma once

#include "ggas/ggas.cuh"

#include "ggas/detail/message/progress.cuh"

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
GGAS_DEVICE int ggas_message_rank(const ggas_messages& m) {
  return ggas_node() * ggas::detail::ranks_of_node(m) + static_cast<int>(ggas::detail::index_of_caller(m));
}
GGAS_DEVICE int ggas_message_ranks(const ggas_messages& m) { return ggas::detail::rank_count(m); }

// The first call of a launch, by all threads of all its blocks: no message or request of launches before is left. A
// barrier.
GGAS_DEVICE ggas_status ggas_messages_begin(const ggas_messages& m, uint64_t timeout_ns) {
  GGAS_CALL(ggas_messages_begin, ggas::block{}, (void)0, ggas::detail::begin_messages(m, timeout_ns));
}

// ---- calls that wait
//
// send: the buffer may be written when it returns. `info`: a word that the receiver finds in *got.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_send(const G& group, const ggas_messages& m, const T* data, size_t n, int to, int tag,
                                  uint64_t timeout_ns, uint32_t info = 0) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_send, group, record_message(group, m, ggas::waited_for::receipt, this_call, s, timeout_ns, to, tag),
            send_message(group, m, data, n * sizeof(T), to, tag, info, timeout_ns));
}
// recv: the oldest message that fits. `got` may be null.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_recv(const G& group, const ggas_messages& m, T* data, size_t n, int from, int tag,
                                  ggas_message* got, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_recv, group, record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, from, tag),
            receive_message(group, m, data, n * sizeof(T), from, tag, got, timeout_ns));
}
// sendrecv: both at once; the buffers do not overlap.
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
// probe: until a message that fits waits; it is still to be received. With time-out 0: whether one does (iprobe).
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_probe(const G& group, const ggas_messages& m, int from, int tag, ggas_message* got,
                                   uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_probe, group, record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, from, tag),
            probe_message(group, m, from, tag, got, timeout_ns));
}

// ---- calls that do not wait. The buffer is the library's until the request has ended.
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_isend(const G& group, const ggas_messages& m, const T* data, size_t n, int to, int tag,
                                   ggas_message_request* request, uint32_t info = 0) {
  return ggas::detail::begin_send(group, m, data, n * sizeof(T), to, tag, info, request);
}
template <ggas::detail::a_message_group G, class T>
GGAS_DEVICE ggas_status ggas_irecv(const G& group, const ggas_messages& m, T* data, size_t n, int from, int tag,
                                   ggas_message_request* request) {
  return ggas::detail::begin_receive(group, m, data, n * sizeof(T), from, tag, request);
}
// wait_any: until one of n requests has ended, number *which, which is then none. ggas_timed_out: they go on. With
// time-out 0 it is the test. Where all are none: at once, ggas_ok, -1.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_wait_any(const G& group, const ggas_messages& m, ggas_message_request* requests, int n,
                                      int* which, ggas_message* got, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait, group,
            record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, any_source, any_tag),
            wait_for_any(group, m, requests, n, which, got, timeout_ns));
}
// wait: that of one request.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_wait(const G& group, const ggas_messages& m, ggas_message_request* request,
                                  ggas_message* got, uint64_t timeout_ns) {
  int which;
  return ggas_wait_any(group, m, request, 1, &which, got, timeout_ns);
}
// wait_all: the first failure, when all have ended or time is up. `got`: of each, or null.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_wait_all(const G& group, const ggas_messages& m, ggas_message_request* requests, int n,
                                      ggas_message* got, uint64_t timeout_ns) {
  using namespace ggas::detail;
  GGAS_CALL(ggas_wait, group,
            record_message(group, m, ggas::waited_for::message, this_call, s, timeout_ns, any_source, any_tag),
            wait_for_all(group, m, requests, n, got, timeout_ns));
}
// cancel: the request ends now. ggas_ok: it had ended before; ggas_timed_out: its message was not received or sent.
template <ggas::detail::a_message_group G>
GGAS_DEVICE ggas_status ggas_cancel(const G& group, const ggas_messages& m, ggas_message_request* request) {
  return ggas::detail::cancel_request(group, m, request);
}
