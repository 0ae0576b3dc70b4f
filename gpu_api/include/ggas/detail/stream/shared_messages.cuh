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

// ---- sending a message that is one record

struct shared_send {
  call_turn now;  // copies: the lines are claimed
  ggas_status status;
  uint64_t position;
};
template <class G>
GGAS_DEVICE shared_send claim_record(const G& g, message_rank r, uint64_t bytes, int to, int tag, poll_deadline& end) {
  const rank_view v(r);
  if (v.own.launch == 0) return {call_turn::ended, ggas_bad_argument, 0};
  if (v.own.used != 0) return {call_turn::needs_request, ggas_ok, 0};
  const uint64_t lines = lines_of_record(bytes);
  for (;;) {
    line_claim c(v, to);
    if (c.claim_for(g, lines)) {
      if (g.leads()) {
        claimed_lines(c.ring, c.node, c.position).put_head(record_short, v.own.me, bytes, envelope(tag, 0));
        c.keep(r, to);
      }
      return {call_turn::copies, ggas_ok, g.of_leader(c.position)};
    }
    if (!move_messages<G>(r) && is_over(g, end)) return {call_turn::ended, status_of_end(g), 0};
  }
}
GGAS_DEVICE ggas_status send_shared(const ggas_messages& m, const char* data, uint64_t bytes, int to, int tag,
                                    uint64_t timeout_ns) {
  const block_group g;
  const message_rank r(m);
  shared_send t{call_turn::ended, ggas_bad_argument, 0};
  if (block_rank() == 0 && caller_good(g, m)) {
    poll_deadline end(timeout_ns);
    t = decided_by_first_warp(g, [&](const warp_group& by) { return claim_record(by, r, bytes, to, tag, end); });
    if (t.now == call_turn::needs_request)
      t.status =
          run_with_request<block_group>(r, message_request::queued, const_cast<char*>(data), bytes, to, tag, 0, end);
  }
  t = of_first_block(t);
  if (t.now != call_turn::copies) return t.status;
  const claimed_lines at(r.ring_of(to), r.node_of(to), t.position);
  const message_data word{data, bytes, false};
  move_each<4>((bytes + 7) / 8, movers_of_launch(), word, [&](uint64_t i, uint64_t v) { at.put(2 + i, v); });
  return t.status;
}

// ---- receiving

enum class shared_turn : uint32_t { ended, lines, copies, needs_request };

struct shared_receive {
  shared_turn now;
  ggas_status status;
  uint64_t position;  // of a record that is not received yet
  message_head found;
};
// A record that fits is not received yet.
template <class G>
GGAS_DEVICE shared_receive find_shared(const G& g, message_rank r, const wanted_message& w, poll_deadline& end) {
  const auto is_shared = [&](const record_here<G>& record) {
    return record.kind() == record_short && w.fits(record.source(), record.tag()) && w.accepts(record.message());
  };
  shared_receive t{shared_turn::ended, ggas_ok, 0, {}};
  const receive_turn found = find_message(
      g, r, w, end, [&](record_here<G>& record) { return record.begins() && (is_shared(record) || record.look()); },
      [&](const record_here<G>& record) -> receive_turn {
        if (!is_shared(record)) return receive_record(g, r, w, record);
        t.now = shared_turn::lines;
        t.position = record.position();
        return {call_turn::ended, ggas_ok, record.message()};
      });
  if (found.now == call_turn::needs_request) t.now = shared_turn::needs_request;
  if (found.now == call_turn::copies) t.now = shared_turn::copies;
  t.status = found.status;
  t.found = found.found;
  return t;
}
// The lines of a record, by all threads as they arrive; whether one did not in time.
GGAS_DEVICE bool take_lines(message_rank r, const shared_receive& t, char* to, uint64_t timeout_ns) {
  const ring_end ring = end_of_ring(r.ring(), r.node_of(t.found.source));
  poll_deadline end(timeout_ns);
  bool late = false;
  store_words(movers_of_launch(), to, t.found.bytes, [&](uint64_t i) {
    const ggas_tagged* const at = ring.line(t.position + 2 + i);
    const uint32_t tag = ring.tag(t.position + 2 + i);
    ggas_tagged l = load_spin(at);
    while (!has_tag(l, tag) && !late) {
      late = end.over();
      l = load_spin(at);
    }
    return tagged_data(l);
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
  shared_receive t{shared_turn::ended, ggas_bad_argument, 0, {}};
  GGAS_SHARED(uint32_t, late);  // of the first block: one of all threads waited too long
  if (is_first_thread()) late = 0;
  no_message(&got);
  if (first && caller_good(g, m)) {
    poll_deadline end(timeout_ns);
    t = decided_by_first_warp(g, [&](const warp_group& by) { return find_shared(by, r, w, end); });
  }
  t = of_first_block(t);
  if (t.now == shared_turn::ended) {
    found_message(got, t.found);
    return t.status;
  }
  bool again = t.now == shared_turn::needs_request;
  if (t.now == shared_turn::lines) {
    if (take_lines(r, t, to, timeout_ns)) *in_block(&late, 0) = 1;
    meet_launch();
    if (late) return end_of_wait();
    if (first && is_first_thread()) {
      acquire_record(r);
      free_lines(end_of_ring(r.ring(), r.node_of(t.found.source)), t.position,
                 t.position + lines_of_record(t.found.bytes));
    }
  } else if (t.now == shared_turn::copies) {
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
