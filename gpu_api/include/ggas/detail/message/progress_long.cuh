// SPDX-License-Identifier: Apache-2.0
// Requests of messages are moved on, and waited for: part of each program, or of libggas_device. docs/messages.md.
// Included by message.cuh.
#pragma once

#include "ggas/detail/message/long_record.cuh"
#include "ggas/detail/message/progress.cuh"

namespace ggas::detail {

// ---- steps of a request. By a thread, or a warp, which is the rank or the first one of it. Whether it moved.

// A receive looks at the messages that wait, or is one that waits itself.
template <class G>
GGAS_DEVICE bool match_waiting(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const uint32_t place = find_waiting(r, q.peer, q.tag);
  const message_head m = place == 0 ? message_head{} : r.waiting(place).head;
  if (place != 0 && !m.asked && accepts(q, m.bytes, m.info))
    copy_waiting(g, r, place, buffer_of(q), m.bytes, is_leaders(g, q));
  g.sync();
  if (g.leads()) {
    if (place == 0) {
      set_stage(r, slot, message_request::posted);
    } else {
      note_match(q, m);
      take_waiting(r, place);
      if (m.asked)
        match_long(r, slot, m.other, m.address);
      else
        end_request(r, slot, status_of_match(q));
    }
  }
  return true;
}

template <class G>
GGAS_DEVICE bool see_handshake(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  if (q.address == 0) return false;
  int is_done = 0;
  if (g.leads()) {
    is_done = load_poll(&q.handshake) == q.number * 4 + message_request::done;
    if (is_done) end_request(r, slot, ggas_ok);
  }
  return g.of_leader(is_done) != 0;
}

template <class G>
GGAS_DEVICE bool send_piece(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const uint64_t left = q.bytes - q.moved, most = r.facts->short_bytes, bytes = left < most ? left : most;
  const message_data data{buffer_of(q) + q.moved, bytes, is_leaders(g, q)};
  if (!try_send(g, data.leaders, r, rank_view(r), q.peer, record_piece, q.other, bytes, data)) return false;
  g.sync();
  if (g.leads()) {
    q.moved += bytes;
    if (bytes == left) end_request(r, slot, ggas_ok);
  }
  return true;
}

template <class G>
GGAS_DEVICE bool send_answer(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const uint64_t other = q.other, own = is_accepted(q) ? q.number : 0, moved = q.moved;
  if (!try_send(g, true, r, rank_view(r), q.source, record_answers, other, 16,
                [=](uint64_t i) { return i == 0 ? own : uint64_t{moved != 0}; }))
    return false;
  if (g.leads()) {
    if (own == 0)
      end_request(r, slot, ggas_bad_argument);
    else
      set_stage(r, slot, message_request::filling);
  }
  return true;
}

// A send that gave up is forgotten when its receiver will learn so.
template <class G>
GGAS_DEVICE bool end_withdrawn(const G& g, message_rank r, int slot) {
  const message_request& q = r.request(slot);
  if (!send_withdrawn(g, r, q.peer, q.other)) return false;
  if (g.leads()) set_stage(r, slot, message_request::unused);
  return true;
}

template <class G>
GGAS_DEVICE bool move_on(const G& g, message_rank r, int slot) {
  bool moved = false;
  const uint32_t state = r.request(slot).state;
  g.sync();  // the first thread writes it
  switch (state) {
    case message_request::unmatched:
      moved = match_waiting(g, r, slot);
      break;
    case message_request::queued:
      moved = send_first(g, r, slot);
      break;
    case message_request::asked:
      moved = see_handshake(g, r, slot);
      break;
    case message_request::sending:
      moved = send_piece(g, r, slot);
      break;
    case message_request::withdrawn:
      moved = end_withdrawn(g, r, slot);
      break;
    case message_request::answering:
      moved = send_answer(g, r, slot);
      break;
    default:
      break;
  }
  g.sync();
  return moved;
}

template <class G>
GGAS_APART bool move_messages(message_rank r) {
  const G g;
  bool moved = false;
  for_requests(r.matching().moving, [&](int slot) { moved |= move_on(g, r, slot); });
  return static_cast<int>(take_records(g, r)) | static_cast<int>(moved);
}

// ---- long messages from memory to memory

// The sender's word, if it still waits: the message is received.
GGAS_DEVICE bool close_handshake(message_rank r, int source, uint64_t number) {
  const uint64_t at = r.part_of(source) + r.facts->slots + (number & 63) * 2 * message_layout::line;
  const uint64_t expected = number * 4 + message_request::active;
  const int node = r.node_of(source);
  release_to(node == ggas_node());  // the data were read before
  return cas_system(word_of(node, at), expected, number * 4 + message_request::done) == expected;
}
template <class G>
GGAS_DEVICE void copy_from_source(const G& g, message_rank r, int source, uint64_t address, char* to, uint64_t bytes,
                                  bool alone) {
  const char* const from = ggas_pointer_of_node<char>(r.node_of(source), address - 1);
  if (!alone)
    move_bytes<origin::remote>(to, from, bytes, movers_of(g));
  else if (g.leads())
    for (uint64_t i = 0; i < bytes; ++i) to[i] = load_relaxed(from + i);
  g.sync();
}

// What the first thread says, for all of the rank. Orders what they did before.
template <class G>
GGAS_DEVICE bool first_thread_says(const G& g, bool said) {
  if constexpr (is_same<G, block_group>) {
    return __syncthreads_or(g.leads() && said) != 0;
  } else {
    g.sync();
    return g.of_leader(static_cast<int>(said)) != 0;
  }
}

// By a NIC. The sender is then asked whether the message is still sent, by the answer; if it is, a piece without data
// ends the receive. If the get fails, the data come in pieces.
template <class G>
GGAS_DEVICE void get_from_source(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  const char* const from = ggas_pointer_of_node<char>(r.node_of(q.source), q.address - 1);
  const ggas_status s =
      get(g, until::complete, buffer_of(q), from, q.found_bytes, quiet_limit_ns, ggas_queue::of_block());
  g.sync();
  if (!g.leads()) return;
  if (s == ggas_ok) q.moved = q.found_bytes;
  set_stage(r, slot, message_request::answering);
}

// By all of the rank.
template <class G>
GGAS_DEVICE void copy_long(const G& g, message_rank r) {
  for_requests(r.matching().copying, [&](int slot) {
    message_request& q = r.request(slot);
    if (is_behind_nic(r, q.source)) return get_from_source(g, r, slot);
    if (is_accepted(q)) copy_from_source(g, r, q.source, q.address, buffer_of(q), q.found_bytes, is_leaders(g, q));
    g.sync();
    if (g.leads()) {
      if (close_handshake(r, q.source, q.other))
        end_request(r, slot, status_of_match(q));
      else
        set_stage(r, slot, message_request::unmatched);
    }
  });
  g.sync();
}

// ---- waiting

// What the threads that make progress found.
enum class message_turn { copy, ready, late };

template <class G, class Ready>
GGAS_DEVICE message_turn make_progress(const G& g, message_rank r, poll_deadline& end, Ready ready) {
  for (;;) {
    const bool moved = move_messages<G>(r);
    if (r.matching().copying != 0) return message_turn::copy;
    if (ready()) return message_turn::ready;
    if (moved) continue;
    if (g.of_leader(static_cast<int>(g.leads() && end.over()))) return message_turn::late;
  }
}

// f(group) by the threads that make progress; what it gives, for all of the rank.
template <class G, class F>
GGAS_DEVICE message_turn by_progress(const G& g, F f) {
  g.sync();
  if constexpr (is_same<G, block_group>) {
    message_turn t = message_turn::copy;
    if (thread_rank() < 32) t = f(warp_group{});
    if (__syncthreads_or(t == message_turn::ready)) return message_turn::ready;
    return __syncthreads_or(t == message_turn::late) ? message_turn::late : message_turn::copy;
  } else {
    return f(g);
  }
}

// Called by all threads of the rank. The threads that make progress first call start(group). When ready() is true, or
// the time is over, they call finish(group, late); its first thread stores the result of the call in the desk.
template <class G, class Start, class Ready, class Finish>
GGAS_DEVICE ggas_status run_messages(const G& g, message_rank r, poll_deadline end, Start start, Ready ready,
                                     Finish finish) {
  for (bool first = true;; first = false) {
    const message_turn t = by_progress(g, [&](const progress_group<G>& by) {
      if (first) start(by);
      by.sync();
      const message_turn found = make_progress(by, r, end, ready);
      by.sync();  // all have seen that it is ready
      if (found != message_turn::copy && by.leads()) finish(found == message_turn::late);
      by.sync();
      return found;
    });
    if (t != message_turn::copy) return static_cast<ggas_status>(r.matching().status);
    copy_long(g, r);
  }
}

// What a call gives of a request that has ended, which is then free. By the first thread.
GGAS_DEVICE void give_result(message_rank r, int slot) {
  const message_request& q = r.request(slot);
  matching_state& d = r.matching();
  d.status = q.status;
  d.source = q.source;
  d.tag = q.found_tag;
  d.info = q.found_info;
  d.bytes = q.found_bytes;
  set_stage(r, slot, message_request::unused);
}
GGAS_DEVICE void give_status(message_rank r, ggas_status s) {
  matching_state& d = r.matching();
  d.status = s;
  d.source = d.tag = any_source;
  d.info = 0;
  d.bytes = 0;
}
// The first thread withdraws a request that has not ended, unless the receiver was faster.
GGAS_DEVICE void withdraw(message_rank r, int slot, ggas_status s) {
  message_request& q = r.request(slot);
  const bool asked = q.state == message_request::asked && q.address != 0, sends = q.state == message_request::sending;
  end_request(r, slot, asked && !gives_up(&q.handshake, q.number) ? ggas_ok : s);
  give_result(r, slot);
  if (sends) set_stage(r, slot, message_request::withdrawn);
}

// ---- calls

template <class G>
GGAS_DEVICE_FUNCTION ggas_status run_with_request(message_rank r, message_request::stage first, void* buffer,
                                                  uint64_t bytes, int peer, int tag, uint32_t info, poll_deadline end) {
  int slot = no_request;
  return run_messages(
      G{}, r, end,
      [&](const progress_group<G>& by) {
        if (by.leads()) slot = make_request(r, first, buffer, bytes, peer, tag, info);
        slot = by.of_leader(slot);
      },
      [&] { return slot == no_request || r.request(slot).state == message_request::ended; },
      [&](bool late) {
        if (slot == no_request)
          give_status(r, ggas_bad_argument);
        else if (late)
          withdraw(r, slot, end_of_wait());
        else
          give_result(r, slot);
      });
}
template <class G>
GGAS_APART ggas_status send_now(message_rank r, const char* data, uint64_t bytes, int to, int tag, uint32_t info,
                                uint64_t timeout_ns) {
  const G g;
  poll_deadline end(timeout_ns);
  const message_data m{data, bytes, !is_same<G, thread_group> && is_private(data)};
  const send_turn t =
      decided_by_first_warp(g, [&](const progress_group<G>& by) { return send_once(by, r, m, to, tag, info, end); });
  if (t.now == call_turn::ended) return t.status;
  return run_with_request<G>(r, message_request::queued, const_cast<char*>(data), bytes, to, tag, info, end);
}

template <class G>
GGAS_APART ggas_status send_long_record(message_rank r, const char* data, uint64_t bytes, int to, int tag,
                                        uint32_t info, uint64_t timeout_ns) {
  const G g;
  poll_deadline end(timeout_ns);
  const record_claim c = decided_by_first_warp(
      g, [&](const progress_group<G>& by) { return claim_record(by, r, bytes, to, tag, info, end); });
  if (c.now == call_turn::needs_request)
    return run_with_request<G>(r, message_request::queued, const_cast<char*>(data), bytes, to, tag, info, end);
  if (c.now == call_turn::lines) put_data(r, to, c.position, {data, bytes, false}, movers_of(g));
  g.sync();
  return c.status;
}

template <class G>
GGAS_APART received_message receive_now(message_rank r, char* to, uint64_t most, int from, int tag, uint32_t info,
                                        uint64_t timeout_ns) {
  const G g;
  poll_deadline end(timeout_ns);
  const wanted_message w{to, most, from, tag, info, !is_same<G, thread_group> && is_private(to)};
  for (;;) {
    const auto t = decided_by_first_warp(g, [&](const progress_group<G>& by) {
      if constexpr (is_same<G, block_group>)
        return find_long_record(by, r, w, bytes_of_warp_words, end);
      else
        return receive_once(by, r, w, end);
    });
    const message_head& m = t.found;
    if (t.now == call_turn::needs_request) break;
    if constexpr (is_same<G, block_group>) {
      if (t.now == call_turn::lines) {
        const ggas_status s = take_long_record<G>(r, to, t.position, m.source, m.bytes, end);
        if (s != ggas_ok) return {s, any_source, any_tag, 0, 0};
      }
    }
    if (t.now == call_turn::copies) {
      if (t.status == ggas_ok) copy_from_source(g, r, m.source, m.address, to, m.bytes, w.leaders);
      if (!first_thread_says(g, g.leads() && close_handshake(r, m.source, m.other))) continue;  // the sender gave up
    }
    return {t.status, m.source, m.tag, m.info, m.bytes};
  }
  const ggas_status s = run_with_request<G>(r, message_request::unmatched, to, most, from, tag, info, end);
  const matching_state& d = r.matching();
  return {s, d.source, d.tag, d.info, d.bytes};
}

template <class G>
GGAS_APART ggas_status begin_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes,
                                     int peer, int tag, uint32_t info) {
  return run_messages(
      G{}, r, poll_deadline(0),
      [&](const progress_group<G>& by) {
        if (!by.leads()) return;
        const int slot = make_request(r, first, buffer, bytes, peer, tag, info);
        r.matching().number = slot == no_request ? 0 : r.request(slot).number;
      },
      [] { return true; }, [&](bool) { give_status(r, r.matching().number == 0 ? ggas_bad_argument : ggas_ok); });
}

GGAS_DEVICE int find_ended(message_rank r, uint64_t set) {
  int found = no_request;
  for_requests(set, [&](int slot) {
    if (found == no_request && r.request(slot).state == message_request::ended) found = slot;
  });
  return found;
}
template <class G>
GGAS_APART ggas_status wait_for_requests(message_rank r, uint64_t set, bool ends, uint64_t timeout_ns) {
  return run_messages(
      G{}, r, poll_deadline(timeout_ns), [](const progress_group<G>&) {},
      [&] { return find_ended(r, set) != no_request; },
      [&](bool) {
        const int slot = find_ended(r, set);
        r.matching().number = slot == no_request ? 0 : r.request(slot).number;
        if (slot != no_request)
          give_result(r, slot);
        else if (ends)
          withdraw(r, lowest_bit(set), ggas_timed_out);
        else
          give_status(r, end_of_wait());
      });
}

template <class G>
GGAS_APART ggas_status wait_for_message(message_rank r, int from, int tag, uint64_t timeout_ns) {
  return run_messages(
      G{}, r, poll_deadline(timeout_ns), [](const progress_group<G>&) {},
      [&] { return find_waiting(r, from, tag) != 0; },
      [&](bool late) {
        give_status(r, late ? end_of_wait() : ggas_ok);
        if (late) return;
        const message_head m = r.waiting(find_waiting(r, from, tag)).head;
        matching_state& d = r.matching();
        d.source = m.source;
        d.tag = m.tag;
        d.info = m.info;
        d.bytes = m.bytes;
      });
}

}  // namespace ggas::detail
