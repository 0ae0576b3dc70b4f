// SPDX-License-Identifier: Apache-2.0
// Records of messages: what a rank puts into the rings of others, and what it does with those that come to it.
// docs/messages.md. Included by message.cuh.
#pragma once

#include "ggas/detail/message/state.cuh"

namespace ggas::detail {

// Kinds of records. The word of the head has the kind and the source; then come, in words of 8 bytes,
enum message_record : uint32_t {
  record_short = 1,  // the envelope, the data
  record_asks,       // the envelope, bytes of the message, number of the sender's request, address or 0
  record_answers,    // number of the sender's request, of the receiver's, or 0: it does not want the data
  record_piece       // number of the receiver's request, the data
};
constexpr unsigned record_kind_shift = 28;
GGAS_DEVICE uint32_t record_word(message_record kind, int source) {
  return kind << record_kind_shift | static_cast<uint32_t>(source);
}
// Tag and the user's word.
GGAS_DEVICE uint64_t envelope(int tag, uint32_t info) { return uint64_t{info} << 32 | static_cast<uint32_t>(tag); }

// A variable of the first thread of several: it moves the data alone.
template <class G>
GGAS_DEVICE bool is_leaders(const G&, const message_request& q) {
  return !is_same<G, thread_group> && q.leaders;
}
// f(group) by all of the group, or by its first thread alone; what it gives, for all.
template <class G, class F>
GGAS_DEVICE int by_movers(const G& g, bool alone, F f) {
  if constexpr (is_same<G, thread_group>) {
    return f(g);
  } else {
    if (!alone) return f(g);
    g.sync();
    int got = 0;
    if (g.leads()) got = f(thread_group{});
    got = g.of_leader(got);
    g.sync();
    return got;
  }
}

// ---- sending

// Functions of the thread that moves the data. No lambdas: NVRTC takes none whose parameters are templates.
template <class W>
struct one_record {
  ring_shape ring;
  int node;
  ring_head head;
  W word;
  template <class By>
  GGAS_DEVICE int operator()(const By& by) const {
    return ring_send(by, ring, node, head, word, deadline{0, deadline::is_known}) == ggas_ok;
  }
};
template <class S>
struct next_record {
  ring_shape ring;
  int node;
  const S& store;
  template <class By>
  GGAS_DEVICE int operator()(const By& by) const {
    ring_head head{};
    return ring_take(by, ring, node, ring_sharing::one_reader, ~0u, head, store) == ring_look::taken;
  }
};

// One try: whether there was room. Words of the record: word(i).
template <class G, class W>
GGAS_DEVICE bool try_send(const G& g, bool alone, message_rank r, int to, message_record kind, uint64_t bytes, W word) {
  const ring_head head{static_cast<uint32_t>(bytes), record_word(kind, r.me())};
  return by_movers(g, alone, one_record<W>{r.ring_of(to), r.node_of(to), head, word}) != 0;
}
// A record of one word and data.
template <class G>
GGAS_DEVICE bool try_send_data(const G& g, message_rank r, const message_request& q, message_record kind,
                               uint64_t first, const char* data, uint64_t bytes) {
  const bool whole = are_whole(data, bytes);
  const whole_words<const uint64_t> words{reinterpret_cast<const uint64_t*>(data)};
  const misaligned_words<const uint8_t> any{reinterpret_cast<const uint8_t*>(data), bytes};
  return try_send(g, is_leaders(g, q), r, q.peer, kind, 8 + bytes, [=](uint64_t i) {
    return i == 0 ? first : whole ? words.load(i - 1) : any.load(i - 1);
  });
}

// Where a receiver finds data at its source: offset in the segment + 1; 0: it does not.
GGAS_DEVICE uint64_t address_for(message_rank r, int to, const char* data, uint64_t bytes) {
  const bool reached = r.node_of(to) == ggas_node() || (!nic_queues() && !nic_page());
  const uint64_t at = reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(device_context().local);
  return reached && fits_segment(at, bytes) ? at + 1 : 0;
}

// A send that is not the first pending one to its rank waits for its turn.
GGAS_DEVICE bool has_earlier_send(message_rank r, int slot) {
  const message_request& own = r.request(slot);
  bool found = false;
  for_requests(r.matching().moving & ~(uint64_t{1} << slot), [&](int other) {
    const message_request& q = r.request(other);
    found |= q.state == message_request::queued && q.peer == own.peer && q.number < own.number;
  });
  return found;
}

// The first record of a send.
template <class G>
GGAS_DEVICE bool send_first(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  if (has_earlier_send(r, slot)) return false;
  const char* const data = buffer_of(q);
  const uint64_t first = envelope(q.tag, q.info), bytes = q.bytes, number = q.number;
  const int to = q.peer;
  if (bytes <= r.matching().all.short_bytes) {
    if (!try_send_data(g, r, q, record_short, first, data, bytes)) return false;
    if (g.leads()) end_request(r, slot, ggas_ok);
    return true;
  }
  const uint64_t address = address_for(r, to, data, bytes);
  if (g.leads()) {
    store_relaxed(&q.handshake, number * 4 + message_request::active);
    q.address = address;
  }
  const bool sent = try_send(g, true, r, to, record_asks, 32, [=](uint64_t i) {
    return i == 0 ? first : i == 1 ? bytes : i == 2 ? number : address;
  });
  if (sent && g.leads()) set_stage(r, slot, message_request::asked);
  return sent;
}

// ---- taking

// The record at the head of the ring from a node. It is used only if all of it has arrived, because no buffer may be
// touched before: another message may reach that buffer first.
struct arrival {
  int here = 0;
  uint32_t bytes = 0, word = 0;
  uint64_t first = 0;
  GGAS_DEVICE message_record kind() const { return static_cast<message_record>(word >> record_kind_shift); }
  GGAS_DEVICE int source() const { return static_cast<int>(word & ((1u << record_kind_shift) - 1)); }
  GGAS_DEVICE int tag() const { return static_cast<int>(static_cast<uint32_t>(first)); }
  GGAS_DEVICE uint32_t info() const { return static_cast<uint32_t>(first >> 32); }
  GGAS_DEVICE uint64_t lines() const { return 1 + words_of_record({bytes, word}); }
};
template <class G>
GGAS_DEVICE arrival look_at_ring(const G& g, message_rank r, int node) {
  const ring_shape ring = r.matching().ring;
  const auto line = [&](uint64_t at) { return load_spin(ring_line(ring, ggas_node(), node, at)); };
  arrival a;
  uint64_t at = 0;
  if (g.leads()) {
    at = load_own(own_word(ring.taken(node)));
    const ggas_tagged head = line(at), first = line(at + 1), second = line(at + 2);  // at once: most are no longer
    a.bytes = static_cast<uint32_t>(tagged_data(head));
    a.word = static_cast<uint32_t>(tagged_data(head) >> 32);
    a.first = tagged_data(first);
    a.here = has_tag(head, ring.tag(at)) && has_tag(first, ring.tag(at + 1)) &&
             (a.lines() < 3 || has_tag(second, ring.tag(at + 2)));
  }
  a.here = g.of_leader(a.here);
  if (!a.here) return a;
  at = g.of_leader(at);
  a.bytes = g.of_leader(a.bytes);
  a.word = g.of_leader(a.word);
  a.first = g.of_leader(a.first);
  bool rest = true;
  for (uint64_t i = 3 + g.rank(); i < a.lines(); i += g.size()) rest &= has_tag(line(at + i), ring.tag(at + i));
  a.here = a.lines() <= 3 || g.join(rest ? ggas_ok : ggas_timed_out) == ggas_ok;
  return a;
}

// store(i, word) gets the words of a record that is here.
template <class G, class S>
GGAS_DEVICE bool take_record(const G& g, bool alone, message_rank r, int node, const S& store) {
  return by_movers(g, alone, next_record<S>{r.matching().ring, node, store}) != 0;
}
// The data of a record; null: they are dropped.
template <class G>
GGAS_DEVICE bool take_data(const G& g, bool alone, message_rank r, int node, char* to, uint64_t bytes) {
  const bool whole = are_whole(to, bytes);
  const whole_words<uint64_t> words{reinterpret_cast<uint64_t*>(to)};
  const misaligned_words<uint8_t> any{reinterpret_cast<uint8_t*>(to), bytes};
  return take_record(g, alone, r, node, [=](uint64_t i, uint64_t v) {
    if (i == 0 || !to) return;
    if (whole)
      words.store(i - 1, v);
    else
      any.store(i - 1, v);
  });
}

template <class G>
GGAS_DEVICE bool take_short(const G& g, message_rank r, int node, const arrival& a) {
  const int slot = find_posted(r, a.source(), a.tag());
  const uint32_t place = slot == no_request ? free_place(r) : 0;
  if (slot == no_request && place == 0) return false;
  const uint64_t bytes = a.bytes - 8;
  char* to = reinterpret_cast<char*>(slot == no_request ? r.data(place) : nullptr);
  if (slot != no_request && accepts(r.request(slot), bytes, a.info())) to = buffer_of(r.request(slot));
  const bool alone = slot != no_request && is_leaders(g, r.request(slot));
  if (!take_data(g, alone, r, node, to, slot == no_request ? (bytes + 7) / 8 * 8 : bytes)) return false;
  if (!g.leads()) return true;
  if (slot != no_request) {
    note_match(r.request(slot), a.source(), a.tag(), a.info(), bytes);
    end_request(r, slot, status_of_match(r.request(slot)));
  } else {
    waiting_message& w = r.waiting(place);
    const uint16_t next = w.next[0];
    w = {a.source(), a.tag(), a.info(), 0, bytes, 0, 0, {next}, {}};
    add_waiting(r, place);
  }
  return true;
}

template <class G>
GGAS_DEVICE bool take_question(const G& g, message_rank r, int node, const arrival& a) {
  const int slot = find_posted(r, a.source(), a.tag());
  const uint32_t place = slot == no_request ? free_place(r) : 0;
  if (slot == no_request && place == 0) return false;
  uint64_t words[4]{};
  if (!take_record(g, true, r, node, [&](uint64_t i, uint64_t v) { words[i & 3] = v; })) return false;
  if (!g.leads()) return true;
  if (slot != no_request) {
    note_match(r.request(slot), a.source(), a.tag(), a.info(), words[1]);
    match_long(r, slot, words[2], words[3]);
  } else {
    waiting_message& w = r.waiting(place);
    const uint16_t next = w.next[0];
    w = {a.source(), a.tag(), a.info(), 1, words[1], words[2], words[3], {next}, {}};
    add_waiting(r, place);
  }
  return true;
}

template <class G>
GGAS_DEVICE bool take_answer(const G& g, message_rank r, int node, const arrival& a) {
  uint64_t words[2]{};
  if (!take_record(g, true, r, node, [&](uint64_t i, uint64_t v) { words[i & 1] = v; })) return false;
  const int slot = find_request(r, a.first, message_request::asked);
  if (!g.leads() || slot == no_request) return true;  // the sender has given up
  r.request(slot).other = words[1];
  if (words[1] != 0)
    set_stage(r, slot, message_request::sending);
  else
    end_request(r, slot, ggas_ok);
  return true;
}

template <class G>
GGAS_DEVICE bool take_piece(const G& g, message_rank r, int node, const arrival& a) {
  const int slot = find_request(r, a.first, message_request::filling);
  const uint64_t bytes = a.bytes - 8;
  char* const to = slot == no_request ? nullptr : buffer_of(r.request(slot)) + r.request(slot).moved;
  const bool alone = slot != no_request && is_leaders(g, r.request(slot));
  if (!take_data(g, alone, r, node, to, bytes)) return false;
  if (!g.leads() || slot == no_request) return true;  // the receiver has given up
  message_request& q = r.request(slot);
  q.moved += bytes;
  if (q.moved == q.found_bytes) end_request(r, slot, ggas_ok);
  return true;
}

// At most one record of a node; whether there was one.
template <class G>
GGAS_DEVICE bool take_of_node(const G& g, message_rank r, int node) {
  const arrival a = look_at_ring(g, r, node);
  if (!a.here) return false;
  bool taken = false;
  switch (a.kind()) {
    case record_short:
      taken = take_short(g, r, node, a);
      break;
    case record_asks:
      taken = take_question(g, r, node, a);
      break;
    case record_answers:
      taken = take_answer(g, r, node, a);
      break;
    case record_piece:
      taken = take_piece(g, r, node, a);
      break;
  }
  g.sync();
  return taken;
}

}  // namespace ggas::detail
