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
  record_answers,    // number of the sender's request; of the receiver's, or 0: it wants no data; 1: it has them
  record_piece,      // number of the receiver's request, the data
  record_withdrawn   // number of the receiver's request: no more pieces come, the message was not sent
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

// ---- sending

// Lines of the ring to a rank, by the first thread.
struct line_claim {
  ring_shape ring{};
  int node = 0;
  uint64_t position = 0;  // after the last message to this rank
  uint64_t free = 0;      // lines that the receiver has released; 0: not known, nor is the position
  uint64_t end = 0;       // of what was claimed
  GGAS_DEVICE line_claim(const rank_view& v, int to) {
    const bool alone = v.shared.nodes == 1;
    node = alone ? 0 : to / v.shared.node_ranks;
    const int number = alone ? to : to % v.shared.node_ranks;
    ring = {v.shared.place + message_layout::first() + static_cast<unsigned>(number) * v.shared.part_bytes +
                message_layout::ring(),
            v.shared.nodes, v.shared.lines_log2};
    if (v.own.sent_to != to) return;
    position = v.own.sent_until;
    free = v.own.free_until;
  }
  // Claims lines of up to `wanted` records; for how many there was room. Earlier accesses of the caller are ordered
  // before the lines. The first guess is that no other rank has claimed since: one compare-and-swap, during the fence.
  GGAS_DEVICE unsigned claim(uint64_t lines, unsigned wanted) {
    uint64_t* const claimed = own_word(ring.claimed(node));
    if (free == 0) position = load_relaxed(claimed);
    for (;;) {
      unsigned records = wanted;
      if (position + wanted * lines > free) {
        free = ring_free_until(ring, node, position, wanted * lines);
        if (position + lines > free) return 0;
        records = wanted == 1 ? 1 : static_cast<unsigned>((free - position) / lines);
        if (records > wanted) records = wanted;
      }
      end = position + records * lines;
      const uint64_t found = cas_gpu(claimed, position, end);
      order();
      if (found == position) return records;
      position = found;
    }
  }
  // Of a rank. Threads of a warp that send as many lines to the same rank claim them together: a word takes one
  // compare-and-swap in a few ns, and of many at once one succeeds.
  template <class G>
  GGAS_DEVICE bool claim_for(const G& g, uint64_t lines) {
    if constexpr (!is_same<G, thread_group>) {
      return g.of_leader(static_cast<int>(g.leads() ? claim(lines, 1) : 0)) != 0;
    } else {
      const unsigned lanes = lanes_alike(static_cast<uint64_t>(node) << 48 | (ring.at + lines));
      if ((lanes & (lanes - 1)) == 0) return claim(lines, 1) != 0;
      const unsigned before = bit_count(lanes & ((1u << lane_rank()) - 1));
      const int first = lowest_bit(lanes);
      unsigned records = before == 0 ? claim(lines, bit_count(lanes)) : 0;
      records = __shfl_sync(lanes, records, first);
      position = __shfl_sync(lanes, position, first) + before * lines;
      end = __shfl_sync(lanes, end, first);
      free = __shfl_sync(lanes, free, first);
      __syncwarp(lanes);  // the lines are free for all
      if (before >= records) return false;
      order();
      return true;
    }
  }
  GGAS_DEVICE void keep(message_rank r, int to) const {
    matching_state& d = r.matching();
    d.sent_to = to;
    d.sent_until = end;
    d.free_until = free;
  }

 private:
  // Earlier accesses of the caller, before the lines. While the first claim is under way.
  GGAS_DEVICE void order() {
    if (!ordered_) release_to(node == ggas_node());
    ordered_ = true;
  }
  bool ordered_ = false;
};

// Lines of the ring to a node, from a position on.
struct claimed_lines {
  ring_shape ring;
  ggas_tagged* first;
  uint64_t position;
  GGAS_DEVICE claimed_lines(const ring_shape& r, int node, uint64_t at)
      : ring(r), first(ring_line(r, node, ggas_node(), 0)), position(at) {}
  GGAS_DEVICE void put(uint64_t i, uint64_t data) const {
    const uint64_t at = position + i;
    store_relaxed(first + (at & (ring.lines() - 1)), tagged_line(ring.tag(at), data));
  }
  GGAS_DEVICE void put_head(message_record kind, int source, uint64_t bytes, uint64_t word) const {
    put(0, uint64_t{record_word(kind, source)} << 32 | (8 + bytes));
    put(1, word);
  }
};
// Of a record: head and first word, then data.
GGAS_DEVICE uint64_t lines_of_record(uint64_t bytes) { return 2 + (bytes + 7) / 8; }

// Who moves the words of a message; alone: the first thread.
template <class G>
GGAS_DEVICE movers words_by(const G& g, bool alone) {
  return alone ? movers{0, 1} : movers_of(g);
}

// One try: whether there was room. The record has the word `first` and the words word(0), word(1) ... of data. `alone`:
// only the first thread may read them.
template <class G, class W>
GGAS_DEVICE bool try_send(const G& g, bool alone, message_rank r, const rank_view& v, int to, message_record kind,
                          uint64_t first, uint64_t bytes, W word) {
  const uint64_t words = (bytes + 7) / 8, lines = lines_of_record(bytes);
  const bool moves = !alone || g.leads();
  const uint64_t own = moves && g.rank() < words ? word(g.rank()) : 0;  // on the way during the claim
  line_claim c(v, to);
  claimed_lines at(c.ring, c.node, 0);
  if (!c.claim_for(g, lines)) return false;
  at.position = g.of_leader(c.position);
  g.sync();  // the lines are free for all
  if (g.leads()) at.put_head(kind, v.own.me, bytes, first);
  if (moves)
    move_each<4>(
        words, words_by(g, alone), [&](uint64_t i) { return i == g.rank() ? own : word(i); },
        [&](uint64_t i, uint64_t data) { at.put(2 + i, data); });
  if (g.leads()) c.keep(r, to);
  g.sync();
  return true;
}

// Four bytes are what programs of MPI send most, next to whole words.
GGAS_DEVICE bool is_one_half(const void* p, uint64_t bytes) {
  return bytes == 4 && reinterpret_cast<uintptr_t>(p) % 4 == 0;
}
// Data of a message: word(i) at any address.
struct message_data {
  const char* at;
  uint64_t bytes;
  bool leaders;  // a variable of the first thread
  GGAS_DEVICE uint64_t operator()(uint64_t i) const {
    if (are_whole(at, bytes)) return whole_words<const uint64_t>{reinterpret_cast<const uint64_t*>(at)}.load(i);
    if (is_one_half(at, bytes)) return load_own(reinterpret_cast<const uint32_t*>(at));
    return misaligned_words<const uint8_t>{reinterpret_cast<const uint8_t*>(at), bytes}.load(i);
  }
};

// Where a receiver, or its NIC, finds data at its source: offset in the segment + 1; 0: it does not.
GGAS_DEVICE uint64_t address_for(message_rank r, int to, const char* data, uint64_t bytes) {
  const bool reached = !is_behind_nic(r, to) || posts_descriptors();
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

// The sender of a long message gives up, unless it was received.
GGAS_DEVICE bool gives_up(uint64_t* handshake, uint64_t number) {
  const uint64_t active = number * 4 + message_request::active;
  return cas_system(handshake, active, number * 4 + message_request::given_up) == active;
}

// The first record of a send.
template <class G>
GGAS_DEVICE bool send_first(const G& g, message_rank r, int slot) {
  message_request& q = r.request(slot);
  if (has_earlier_send(r, slot)) return false;
  const message_data data{buffer_of(q), q.bytes, is_leaders(g, q)};
  const uint64_t first = envelope(q.tag, q.info), bytes = q.bytes, number = q.number;
  const int to = q.peer;
  if (bytes <= r.facts->short_bytes) {
    if (!try_send(g, data.leaders, r, rank_view(r), to, record_short, first, bytes, data)) return false;
    if (g.leads()) end_request(r, slot, ggas_ok);
    return true;
  }
  const uint64_t address = address_for(r, to, data.at, bytes);
  if (g.leads()) {
    store_relaxed(&q.handshake, number * 4 + message_request::active);
    q.address = address;
  }
  const bool sent = try_send(g, true, r, rank_view(r), to, record_asks, first, 24, [=](uint64_t i) {
    return i == 0 ? bytes : i == 1 ? number : address;
  });
  if (sent && g.leads()) set_stage(r, slot, message_request::asked);
  return sent;
}

// ---- taking

// Words load(0), load(1) ... to any address; some are loaded before the first is stored.
template <class Load>
GGAS_DEVICE void store_words(const movers& by, char* to, uint64_t bytes, Load load) {
  const bool whole = are_whole(to, bytes);
  move_each<4>((bytes + 7) / 8, by, load, [=](uint64_t i, uint64_t v) {
    if (whole)
      whole_words<uint64_t>{reinterpret_cast<uint64_t*>(to)}.store(i, v);
    else if (is_one_half(to, bytes))
      store_own(reinterpret_cast<uint32_t*>(to), static_cast<uint32_t>(v));
    else
      misaligned_words<uint8_t>{reinterpret_cast<uint8_t*>(to), bytes}.store(i, v);
  });
}

// `unseen`: there may be messages put aside that are not visible yet. Loaded before the fence: after it each load is a
// trip to L2.
GGAS_DEVICE void acquire_record(message_rank r, bool unseen) {
  acquire_after_spins();
  matching_state& d = r.matching();
  if (unseen) d.visible = d.put_aside;
}
GGAS_DEVICE void acquire_record(message_rank r) { acquire_record(r, r.matching().visible != r.matching().put_aside); }
GGAS_DEVICE void free_lines(const ring_end& ring, uint64_t from, uint64_t to) {
  store_own(ring.taken, to);
  release_lines(ring, from, to);
}

// The record at the head of the ring from a node, as all threads of a group see it. It is used only if all of it has
// arrived, because no buffer may be touched before: another message may reach that buffer first.
template <class G>
class record_here {
 public:
  GGAS_DEVICE record_here(const G& g, message_rank r, int node) : g_(g), ring_(end_of_ring(r.ring(), node)) {
    go_to(load_own(ring_.taken));
  }
  // To the one after this, which was taken.
  GGAS_DEVICE void go_on() { go_to(at_ + lines()); }

  GGAS_DEVICE bool look() { return g_.all(load_begin() && has_rest()); }
  // Whether head and envelope have arrived: then the data come.
  GGAS_DEVICE bool begins() { return g_.all(load_begin()); }
  // Whether the data of one that begins have arrived, too.
  GGAS_DEVICE bool is_whole() const { return g_.all(has_rest()); }
  GGAS_DEVICE uint64_t position() const { return at_; }
  GGAS_DEVICE message_record kind() const { return static_cast<message_record>(word_ >> record_kind_shift); }
  GGAS_DEVICE uint64_t first() const { return first_; }
  GGAS_DEVICE uint64_t data_bytes() const { return bytes_ - 8; }  // after the first word
  GGAS_DEVICE uint64_t word(uint64_t i) const {                   // of the data
    return i == g_.rank() ? own_ : tagged_data(line(2 + i));
  }
  // Of a short message, or one that asks.
  GGAS_DEVICE int source() const { return static_cast<int>(word_ & ((1u << record_kind_shift) - 1)); }
  GGAS_DEVICE int tag() const { return static_cast<int>(static_cast<uint32_t>(first_)); }
  GGAS_DEVICE message_head message() const {
    const auto info = static_cast<uint32_t>(first_ >> 32);
    if (kind() == record_short) return {source(), tag(), info, 0, data_bytes(), 0, 0};
    return {source(), tag(), info, 1, word_of_all(0), word_of_all(1), word_of_all(2)};
  }

  // Stores the data; by the first thread alone: into a variable of it.
  GGAS_DEVICE void copy_to(char* to, uint64_t bytes, bool alone) const {
    if (alone && !g_.leads()) return;
    store_words(words_by(g_, alone), to, bytes, [&](uint64_t i) { return word(i); });
  }
  // By the first thread, after all have read the record, whose lines then are free. acquire(): the stores that its
  // sender made before are visible, and those of messages put aside.
  GGAS_DEVICE void acquire(message_rank r) const { acquire_record(r); }
  GGAS_DEVICE void take() const { free_lines(ring_, at_, at_ + lines()); }

 private:
  // Head, envelope and the first words of data are loaded at once.
  GGAS_DEVICE bool load_begin() {
    const ggas_tagged head = load_spin(head_at_), first = load_spin(first_at_), own = load_spin(own_at_);
    bytes_ = static_cast<uint32_t>(tagged_data(head));
    word_ = static_cast<uint32_t>(tagged_data(head) >> 32);
    first_ = tagged_data(first);
    own_ = tagged_data(own);
    own_here_ = has_tag(own, own_tag_);
    return has_tag(head, head_tag_) && has_tag(first, first_tag_);
  }
  GGAS_DEVICE bool has_rest() const {
    bool here = own_here_ || 2 + g_.rank() >= lines();
    for (uint64_t i = 2 + g_.rank() + g_.size(); i < lines(); i += g_.size())
      here &= has_tag(line(i), ring_.tag(at_ + i));
    return here;
  }
  GGAS_DEVICE void go_to(uint64_t at) {
    at_ = at;
    head_at_ = ring_.line(at);
    first_at_ = ring_.line(at + 1);
    own_at_ = ring_.line(at + 2 + g_.rank());
    head_tag_ = ring_.tag(at);
    first_tag_ = ring_.tag(at + 1);
    own_tag_ = ring_.tag(at + 2 + g_.rank());
  }
  GGAS_DEVICE uint64_t word_of_all(unsigned i) const {
    if constexpr (is_same<G, warp_group>)
      if (i < g_.size()) return __shfl_sync(lane_mask(), own_, static_cast<int>(i));
    return word(i);
  }
  GGAS_DEVICE uint64_t lines() const { return 1 + words_of_record({bytes_, word_}); }
  GGAS_DEVICE ggas_tagged line(uint64_t i) const { return load_spin(ring_.line(at_ + i)); }

  G g_;
  ring_end ring_;
  uint64_t at_;
  const ggas_tagged *head_at_, *first_at_, *own_at_;
  uint32_t head_tag_, first_tag_, own_tag_;
  uint32_t bytes_ = 0, word_ = 0;
  uint64_t first_ = 0, own_ = 0;
  bool own_here_ = false;  // the line of own_
};

// Nothing wants the message yet: it waits at a place of the rank. false: there is none, and the record stays. The
// stores of its sender become visible when it is received.
template <class G>
GGAS_DEVICE bool put_aside(const G& g, message_rank r, const record_here<G>& record) {
  const uint32_t place = free_place(r);
  if (place == 0) return false;
  const message_head m = record.message();
  if (!m.asked) record.copy_to(reinterpret_cast<char*>(r.data(place)), (m.bytes + 7) / 8 * 8, false);
  g.sync();
  if (g.leads()) {
    add_waiting(r, place, m);
    record.take();
  }
  g.sync();
  return true;
}
// Data that lie at a waiting place.
template <class G>
GGAS_DEVICE void copy_waiting(const G& g, message_rank r, uint32_t place, char* to, uint64_t bytes, bool alone) {
  if (alone && !g.leads()) return;
  const uint64_t* const from = r.data(place);
  store_words(words_by(g, alone), to, bytes, [=](uint64_t i) { return from[i]; });
}
// The first thread takes a message that was put aside. The acquire of a later record serves for it, too.
GGAS_DEVICE void take_waiting(message_rank r, uint32_t place) {
  matching_state& d = r.matching();
  const uint32_t number = r.waiting(place).number;
  remove_waiting(r, place);
  if (static_cast<int32_t>(number - d.visible) <= 0) return;
  acquire_after_spins();
  d.visible = d.put_aside;
}

// The receive of a request gets a message.
template <class G>
GGAS_DEVICE void give_to_request(const G& g, message_rank r, const record_here<G>& record, int slot) {
  message_request& q = r.request(slot);
  const message_head m = record.message();
  if (!m.asked && accepts(q, m.bytes, m.info)) record.copy_to(buffer_of(q), m.bytes, is_leaders(g, q));
  g.sync();
  if (!g.leads()) return;
  record.acquire(r);
  record.take();
  note_match(q, m);
  if (m.asked)
    match_long(r, slot, m.other, m.address);
  else
    end_request(r, slot, status_of_match(q));
}

// The receiver of a message in pieces learns that it was not sent. By a sender that has given up.
template <class G>
GGAS_DEVICE bool send_withdrawn(const G& g, message_rank r, int to, uint64_t number) {
  return try_send(g, true, r, rank_view(r), to, record_withdrawn, number, 0, [](uint64_t) { return uint64_t{0}; });
}
// Of requests that have given up, nothing is known any more: their receivers learn so. false: there was no room for it.
template <class G>
GGAS_DEVICE bool take_answer(const G& g, message_rank r, const record_here<G>& record) {
  const int slot = find_request(r, record.first(), message_request::asked);
  const uint64_t other = record.word(0), has_data = record.word(1);
  g.sync();
  if (slot == no_request && other != 0 && !send_withdrawn(g, r, record.source(), other)) return false;
  if (!g.leads()) return true;
  record.acquire(r);
  record.take();
  if (slot == no_request) return true;
  r.request(slot).other = other;
  if (has_data) r.request(slot).moved = r.request(slot).bytes;
  if (other != 0)
    set_stage(r, slot, message_request::sending);
  else
    end_request(r, slot, ggas_ok);
  return true;
}
// The receive waits again, as if the message had not been there.
template <class G>
GGAS_DEVICE void take_withdrawn(const G& g, message_rank r, const record_here<G>& record) {
  const int slot = find_request(r, record.first(), message_request::filling);
  g.sync();
  if (!g.leads()) return;
  record.take();
  if (slot == no_request) return;
  r.request(slot).moved = 0;
  set_stage(r, slot, message_request::unmatched);
}

template <class G>
GGAS_DEVICE void take_piece(const G& g, message_rank r, const record_here<G>& record) {
  const int slot = find_request(r, record.first(), message_request::filling);
  const uint64_t bytes = record.data_bytes();
  if (slot != no_request)
    record.copy_to(buffer_of(r.request(slot)) + r.request(slot).moved, bytes, is_leaders(g, r.request(slot)));
  g.sync();
  if (!g.leads()) return;
  record.acquire(r);
  record.take();
  if (slot == no_request) return;
  message_request& q = r.request(slot);
  q.moved += bytes;
  if (q.moved == q.found_bytes) end_request(r, slot, ggas_ok);
}

// A record that no call waits for; false: there is no place for it, or no room for its answer.
template <class G>
GGAS_DEVICE bool take_record(const G& g, message_rank r, const record_here<G>& record) {
  if (record.kind() == record_short || record.kind() == record_asks) {
    const int slot = find_posted(r, record.source(), record.tag());
    if (slot == no_request) return put_aside(g, r, record);
    give_to_request(g, r, record, slot);
  } else if (record.kind() == record_answers) {
    if (!take_answer(g, r, record)) return false;
  } else if (record.kind() == record_piece) {
    take_piece(g, r, record);
  } else {
    take_withdrawn(g, r, record);
  }
  g.sync();
  return true;
}
// At most one record of each node; whether there was one.
template <class G>
GGAS_DEVICE bool take_records(const G& g, message_rank r) {
  bool taken = false;
  GGAS_NO_UNROLL
  for (int node = 0; node < r.nodes(); ++node) {
    record_here<G> record(g, r, node);
    if (record.look()) taken |= take_record(g, r, record);
  }
  return taken;
}

}  // namespace ggas::detail
