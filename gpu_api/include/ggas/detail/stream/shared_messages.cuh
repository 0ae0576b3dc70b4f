// SPDX-License-Identifier: Apache-2.0
// Messages on a stream whose data all threads of a launch move: a block, or the blocks of a cluster. The first block is
// the rank: it decides, and puts what it found into the shared memory of the others. docs/messages.md#on-a-stream.
// Included by messages.cuh.
#pragma once

#include "ggas/detail/message/calls.cuh"
#include "ggas/detail/stream/on_stream_launch.cuh"

namespace ggas::detail {

// ---- the threads of a launch

GGAS_DEVICE movers movers_of_launch() {
  return {block_rank() * thread_count() + thread_rank(), block_count() * thread_count()};
}
// All of them, with what was stored before.
GGAS_DEVICE void meet_launch() {
#ifdef __CUDACC__
  if (block_count() > 1) return cluster_barrier();
#endif
  __syncthreads();
}
// The same variable in the shared memory of another block of the cluster.
template <class T>
GGAS_DEVICE T* in_block(T* mine, unsigned block) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mapa.u64 %0, %1, %2;" : "=l"(mine) : "l"(mine), "r"(block));
#else
  static_cast<void>(block);
#endif
  return mine;
}
// All blocks have begun, so their shared memory can be written.
GGAS_DEVICE void begin_launch() {
  if (block_count() > 1) meet_launch();
}
// What the threads of the first block have, for all.
template <class T>
GGAS_DEVICE T of_first_block(const T& mine) {
  if (block_count() == 1) return mine;
  GGAS_SHARED(T, given);
  if (block_rank() == 0 && thread_rank() < block_count()) *in_block(&given, thread_rank()) = mine;
  meet_launch();
  return given;
}

// ---- a message that is one record

GGAS_DEVICE ggas_status send_shared(const ggas_messages& m, const char* data, uint64_t bytes, int to, int tag,
                                    uint64_t timeout_ns) {
  const block_group g;
  const message_rank r(m);
  record_claim t{call_turn::ended, ggas_bad_argument, 0};
  if (block_rank() == 0 && caller_good(g, m)) {
    poll_deadline end(timeout_ns);
    t = decided_by_first_warp(g, [&](const warp_group& by) { return claim_record(by, r, bytes, to, tag, 0, end); });
    if (t.now == call_turn::needs_request)
      t.status =
          run_with_request<block_group>(r, message_request::queued, const_cast<char*>(data), bytes, to, tag, 0, end);
  }
  t = of_first_block(t);
  if (t.now == call_turn::lines) put_data(r, to, t.position, {data, bytes, false}, movers_of_launch());
  return t.status;
}

// The lines of a record, by all threads as they arrive; whether one did not in time.
GGAS_DEVICE bool take_lines(const lines_of_data& lines, char* to, uint64_t bytes, uint64_t timeout_ns) {
  poll_deadline end(timeout_ns);
  bool late = false;
  store_words(movers_of_launch(), to, bytes, [&](uint64_t i) {
    uint64_t data = 0;
    while (!lines.load(i, data) && !late) late = end.over();
    return data;
  });
  return late;
}

GGAS_DEVICE void found_message(ggas_message& got, const message_head& m) { got = {m.source, m.tag, m.info, m.bytes}; }

// By the threads of the first block, which is the rank, `got` and the status; by others nothing.
GGAS_DEVICE ggas_status receive_shared(const ggas_messages& m, char* to, uint64_t most, int from, int tag,
                                       ggas_message& got, uint64_t timeout_ns) {
  const block_group g;
  const message_rank r(m);
  const wanted_message w{to, most, from, tag, 0, false};
  const bool first = block_rank() == 0;
  found_record t{call_turn::ended, ggas_bad_argument, 0, {}};
  GGAS_SHARED(uint32_t, late);  // of the first block: one of all threads waited too long
  if (is_first_thread()) late = 0;
  no_message(&got);
  if (first && caller_good(g, m)) {
    poll_deadline end(timeout_ns);
    t = decided_by_first_warp(g, [&](const warp_group& by) { return find_long_record(by, r, w, 0, end); });
  }
  t = of_first_block(t);
  if (t.now == call_turn::ended) {
    found_message(got, t.found);
    return t.status;
  }
  bool again = t.now == call_turn::needs_request;
  if (t.now == call_turn::lines) {
    const lines_of_data lines(r, t.position, t.found);
    if (take_lines(lines, to, t.found.bytes, timeout_ns)) *in_block(&late, 0) = 1;
    meet_launch();
    if (late) return end_of_wait();
    if (first && is_first_thread()) lines.take(r);
  } else if (t.now == call_turn::copies) {
    if (t.status == ggas_ok)
      move_bytes<origin::remote>(to, ggas_pointer_of_node<char>(r.node_of(t.found.source), t.found.address - 1),
                                 t.found.bytes, movers_of_launch());
    meet_launch();
    if (first) again = !first_thread_says(g, g.leads() && close_handshake(r, t.found.source, t.found.other));
  }
  found_message(got, t.found);
  // The sender gave up, or the rank has requests: the first block receives alone.
  return first && again ? receive_message(g, m, to, most, from, tag, &got, timeout_ns) : t.status;
}

}  // namespace ggas::detail
