// SPDX-License-Identifier: Apache-2.0
// Calls that wait for one message, without a request: a send writes the lines straight from its buffer, a receive reads
// them straight into its buffer. Only if the rank has requests under way, or a long message cannot be copied from
// memory to memory, the call makes a request. docs/messages.md counts the dependent accesses. Included by
// progress_long.cuh.
#pragma once

#include "ggas/detail/message/records.cuh"

namespace ggas::detail {

// All that can be done at once, except copies of long messages. Whether anything was.
template <class G>
GGAS_APART bool move_messages(message_rank r);

enum class call_turn : uint32_t {
  ended,
  copies,  // a long message, from memory to memory
  lines,   // one record, by more threads than those of a warp (long_record.cuh)
  needs_request
};

// What a call has come to, the same for all threads.
struct send_turn {
  call_turn now;
  ggas_status status;
};
struct receive_turn {
  call_turn now;
  ggas_status status;
  message_head found;
};

// The threads that make progress: all of a rank, or of a block its first warp.
template <class G>
using progress_group = either_t<is_same<G, block_group>, warp_group, G>;

// What f(group) says, called by these threads, for all. Orders what all did before it, and after it.
template <class G, class F>
GGAS_DEVICE auto decided_by_first_warp(const G& g, F f) {
  using turn = decltype(f(progress_group<G>{}));
  g.sync();
  if constexpr (is_same<G, block_group>) {
    GGAS_SHARED(turn, of_block);
    if (thread_rank() < 32) {
      const turn t = f(warp_group{});
      if (is_first_thread()) of_block = t;
    }
    __syncthreads();
    return of_block;
  } else {
    const turn t = f(g);
    g.sync();
    return t;
  }
}
template <class G>
GGAS_DEVICE bool is_over(const G& g, poll_deadline& end) {
  return g.of_leader(static_cast<int>(g.leads() && end.over())) != 0;
}
template <class G>
GGAS_DEVICE ggas_status status_of_end(const G& g) {
  return static_cast<ggas_status>(g.of_leader(static_cast<int>(g.leads() ? end_of_wait() : ggas_ok)));
}

// ---- sending

// A message from memory to memory: the receiver copies it, and sets the word of the sender.
template <class G>
GGAS_DEVICE send_turn send_long(const G& g, message_rank r, const rank_view& v, const message_data& m, int to, int tag,
                                uint32_t info, poll_deadline& end) {
  constexpr unsigned between_looks = 8;  // at the own rings
  matching_state& d = r.matching();
  const uint64_t address = address_for(r, to, m.at, m.bytes);
  if (address == 0 || v.own.used != 0 || is_behind_nic(r, to)) return {call_turn::needs_request, ggas_ok};
  const uint64_t number = (d.requests + 1) << 6, bytes = m.bytes;
  uint64_t* const handshake = &r.request(0).handshake;
  g.sync();
  if (g.leads()) {
    ++d.requests;
    store_relaxed(handshake, number * 4 + message_request::active);
  }
  bool sent = false;
  for (unsigned turn = 0;; ++turn) {
    if (!sent) {
      sent = try_send(g, true, r, v, to, record_asks, envelope(tag, info), 24, [=](uint64_t i) {
        return i == 0 ? bytes : i == 1 ? number : address;
      });
    } else if (g.of_leader(static_cast<int>(g.leads() && load_poll(handshake) == number * 4 + message_request::done))) {
      return {call_turn::ended, ggas_ok};
    }
    if (turn % between_looks == 0 && move_messages<G>(r)) continue;
    if (!is_over(g, end)) continue;
    const bool taken = sent && g.of_leader(static_cast<int>(g.leads() && !gives_up(handshake, number)));
    return {call_turn::ended, taken ? ggas_ok : status_of_end(g)};
  }
}
template <class G>
GGAS_DEVICE send_turn send_once(const G& g, message_rank r, const message_data& m, int to, int tag, uint32_t info,
                                poll_deadline& end) {
  const rank_view v(r);
  if (v.own.launch == 0) return {call_turn::ended, ggas_bad_argument};
  if (v.own.moving != 0) return {call_turn::needs_request, ggas_ok};
  if (m.bytes > v.shared.short_bytes) return send_long(g, r, v, m, to, tag, info, end);
  for (;;) {
    if (try_send(g, m.leaders, r, v, to, record_short, envelope(tag, info), m.bytes, m))
      return {call_turn::ended, ggas_ok};
    if (v.own.used != 0) return {call_turn::needs_request, ggas_ok};  // it may have to take messages
    if (!move_messages<G>(r) && is_over(g, end)) return {call_turn::ended, status_of_end(g)};
  }
}

// ---- receiving

struct wanted_message {
  char* to;
  uint64_t most;
  int from, tag;
  uint32_t info;
  bool leaders;  // a variable of the first thread
  GGAS_DEVICE bool fits(int source, int its_tag) const {
    return (from == any_source || from == source) && fits_tag(tag, its_tag);
  }
  GGAS_DEVICE bool accepts(const message_head& m) const { return m.bytes <= most && fits_info(info, m.info); }
  // A message that has been found.
  GGAS_DEVICE receive_turn turn(const message_head& m) const {
    return {m.asked ? call_turn::copies : call_turn::ended, accepts(m) ? ggas_ok : ggas_bad_argument, m};
  }
};
GGAS_DEVICE receive_turn without_message(call_turn now, ggas_status s) {
  return {now, s, {any_source, any_tag, 0, 0, 0, 0, 0}};
}
// A long message that its receiver does not copy itself.
GGAS_DEVICE bool comes_by_request(message_rank r, const message_head& m) {
  return m.asked && (m.address == 0 || is_behind_nic(r, m.source));
}

template <class G>
GGAS_DEVICE receive_turn receive_waiting(const G& g, message_rank r, const wanted_message& w, uint32_t place) {
  const message_head m = r.waiting(place).head;
  if (comes_by_request(r, m)) return {call_turn::needs_request, ggas_ok, m};
  if (!m.asked && w.accepts(m)) copy_waiting(g, r, place, w.to, m.bytes, w.leaders);
  g.sync();
  if (g.leads()) take_waiting(r, place);
  return w.turn(m);
}
template <class G>
GGAS_DEVICE receive_turn receive_record(const G& g, message_rank r, const wanted_message& w,
                                        const record_here<G>& record, bool unseen) {
  const message_head m = record.message();
  if (comes_by_request(r, m)) return {call_turn::needs_request, ggas_ok, m};
  if (!m.asked && w.accepts(m)) record.copy_to(w.to, m.bytes, w.leaders);
  g.sync();
  if (g.leads()) {
    acquire_record(r, unseen);
    record.take();
  }
  return w.turn(m);
}

// Whose ring is looked at in a turn: that of the wanted node, and now and then those of others, whose senders would run
// out of room.
struct turns_of_nodes {
  int nodes, home;  // home: any_source, or the node
  GGAS_DEVICE unsigned round() const { return static_cast<unsigned>(home < 0 || nodes == 1 ? nodes : 8 * nodes); }
  GGAS_DEVICE int at(unsigned turn) const {
    if (home >= 0 && turn % 8 != 7) return home;
    return static_cast<int>((home < 0 ? turn : turn / 8) % static_cast<unsigned>(nodes));
  }
};
// The first message that fits: among those that wait, then from the rings; others are put aside. look(record): whether
// it can be used; receive(record, unseen): one that fits; `unseen`: see acquire_record().
template <class G, class Look, class Receive>
GGAS_DEVICE receive_turn find_message(const G& g, message_rank r, const wanted_message& w, poll_deadline& end,
                                      Look look, Receive receive) {
  const matching_state& d = r.matching();
  if (d.launch == 0) return without_message(call_turn::ended, ggas_bad_argument);
  if (d.used != 0) return without_message(call_turn::needs_request, ggas_ok);
  if (const uint32_t place = find_waiting(r, w.from, w.tag); place != 0) return receive_waiting(g, r, w, place);
  const turns_of_nodes turns{r.nodes(), w.from == any_source ? any_source : r.node_of(w.from)};
  record_here<G> record(g, r, turns.at(0));
  bool unseen = d.visible != d.put_aside;  // loaded here, as it is known when the message comes
  unsigned idle = 0;
  GGAS_NO_UNROLL
  for (unsigned turn = 0;; ++turn) {
    bool moved = false;
    if (look(record)) {
      const bool is_message = record.kind() == record_short || record.kind() == record_asks;
      if (is_message && w.fits(record.source(), record.tag())) return receive(record, unseen);
      moved = is_message ? put_aside(g, r, record) : move_messages<G>(r);
      if (moved) record.go_on();
      unseen |= moved;
    }
    if (turns.nodes > 1) record = record_here<G>(g, r, turns.at(turn + 1));
    idle = moved ? 0 : idle + 1;
    if (idle < turns.round()) continue;
    idle = 0;
    if (is_over(g, end)) return without_message(call_turn::ended, status_of_end(g));
  }
}
template <class G>
GGAS_DEVICE receive_turn receive_once(const G& g, message_rank r, const wanted_message& w, poll_deadline& end) {
  return find_message(
      g, r, w, end, [](record_here<G>& record) { return record.look(); },
      [&](const record_here<G>& record, bool unseen) { return receive_record(g, r, w, record, unseen); });
}

}  // namespace ggas::detail
