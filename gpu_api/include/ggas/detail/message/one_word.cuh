// SPDX-License-Identifier: Apache-2.0
// Messages of up to one word, sent and received without a request, by the first thread of a rank that has no requests
// and no waiting messages. docs/messages.md counts the dependent accesses. Included by progress_long.cuh.
#pragma once

#include "ggas/detail/message/records.cuh"

namespace ggas::detail {

constexpr uint64_t most_of_one_word = 8;

GGAS_DEVICE uint64_t load_word(const void* from, uint64_t bytes) {
  if (are_whole(from, bytes)) return bytes == 0 ? 0 : load_own(static_cast<const uint64_t*>(from));
  return misaligned_words<const uint8_t>{static_cast<const uint8_t*>(from), bytes}.load(0);
}
GGAS_DEVICE void store_word(void* to, uint64_t bytes, uint64_t v) {
  if (bytes == 0) return;
  if (are_whole(to, bytes))
    store_own(static_cast<uint64_t*>(to), v);
  else
    misaligned_words<uint8_t>{static_cast<uint8_t*>(to), bytes}.store(0, v);
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

// What the first thread needs to send, read at once: a fence drops the first-level cache, so each later read of the
// rank's state would be a trip to the second level.
struct word_sender {
  ring_shape ring{};
  int node = 0, me = 0;
  uint64_t used = 0;
  uint64_t position = 0;  // after the last message to this rank
  uint64_t free = 0;      // lines that the receiver has released; 0: not known, nor is the position
  GGAS_DEVICE word_sender() {}
  GGAS_DEVICE word_sender(message_rank r, int to) {
    const matching_state& d = r.matching();
    const uint64_t until = d.sent_until, released = d.free_until;
    const bool known = d.sent_to == to;
    ring = r.ring_of(to);
    node = r.node_of(to);
    me = d.me;
    used = d.used;
    position = known ? until : 0;
    free = known ? released : 0;
  }
};

// Claims lines of the ring, and orders the caller's earlier accesses before the lines. The first guess is that no other
// rank has claimed since: one compare-and-swap, during the fence. false: there is no room.
GGAS_DEVICE bool claim_after_last(word_sender& w, uint64_t lines) {
  uint64_t* const claimed = own_word(w.ring.claimed(w.node));
  const uint32_t quarter_log2 = w.ring.lines_log2 - 2;
  if (w.free == 0) w.position = load_relaxed(claimed);
  for (;;) {
    const uint64_t end = w.position + lines;
    if (end > w.free) {
      if (!ring_has_room(w.ring, w.node, w.position, lines)) return false;
      w.free = (((end - 1) >> quarter_log2) + 1) << quarter_log2;
    }
    const uint64_t found = cas_gpu(claimed, w.position, end);
    if (w.node == ggas_node())
      fence_acq_rel_gpu();
    else
      fence_acq_rel_system();
    if (found == w.position) return true;
    w.position = found;
  }
}

// Whether the message is sent; if not, it needs a request.
template <class G>
GGAS_DEVICE bool send_one_word(const G& g, message_rank r, const void* data, uint64_t bytes, int to, int tag,
                               uint32_t info) {
  word_sender w;
  if (g.leads()) w = word_sender(r, to);
  g.sync();
  bool sent = false;
  if (g.leads() && w.used == 0) {
    const uint64_t word = load_word(data, bytes), lines = bytes == 0 ? 2 : 3;
    sent = claim_after_last(w, lines);
    if (sent) {
      const auto put = [&](uint64_t i, uint64_t v) {
        const uint64_t at = w.position + i;
        store_relaxed(ring_line(w.ring, w.node, ggas_node(), at), tagged_line(w.ring.tag(at), v));
      };
      put(0, uint64_t{record_word(record_short, w.me)} << 32 | (8 + bytes));
      put(1, envelope(tag, info));
      if (bytes != 0) put(2, word);
      matching_state& d = r.matching();
      d.sent_to = to;
      d.sent_until = w.position + lines;
      d.free_until = w.free;
    }
  }
  return first_thread_says(g, sent);
}

// A message at the head of a ring.
struct word_arrival {
  enum outcome { nothing, other, here } is;
  arrival a;
  uint64_t word;
};
GGAS_DEVICE word_arrival look_for_word(const ring_shape& ring, int node, uint64_t at) {
  const auto line = [&](uint64_t i) { return load_spin(ring_line(ring, ggas_node(), node, at + i)); };
  const ggas_tagged head = line(0), first = line(1), second = line(2);  // at once
  word_arrival w{word_arrival::nothing, {}, tagged_data(second)};
  if (!has_tag(head, ring.tag(at))) return w;
  w.a.bytes = static_cast<uint32_t>(tagged_data(head));
  w.a.word = static_cast<uint32_t>(tagged_data(head) >> 32);
  w.a.first = tagged_data(first);
  if (w.a.kind() != record_short || w.a.bytes > 8 + most_of_one_word)
    w.is = word_arrival::other;
  else if (has_tag(first, ring.tag(at + 1)) && (w.a.bytes == 8 || has_tag(second, ring.tag(at + 2))))
    w.is = word_arrival::here;
  return w;
}
// Whether another node's ring has a record, which must be taken before its senders run out of room.
GGAS_DEVICE bool has_record_of_others(const ring_shape& ring, int node) {
  for (int other = 0; other < static_cast<int>(ring.nodes); ++other) {
    if (other == node) continue;
    const uint64_t at = load_own(own_word(ring.taken(other)));
    if (has_tag(load_spin(ring_line(ring, ggas_node(), other, at)), ring.tag(at))) return true;
  }
  return false;
}

// By the first thread: waits for the next message, if it may be the wanted one. Anything else is left as it is.
GGAS_DEVICE bool take_one_word(message_rank r, uint64_t most, int from, int tag, uint32_t info, poll_deadline& end,
                               word_arrival& w) {
  constexpr unsigned between_looks = 8;  // at the rings of others
  const matching_state& d = r.matching();
  if (d.used != 0 || d.waiting != 0 || (from == any_source && d.ring.nodes > 1)) return false;
  const ring_shape ring = d.ring;
  const int node = from == any_source ? 0 : r.node_of(from);
  const uint64_t at = load_own(own_word(ring.taken(node)));
  for (unsigned turn = 1;; ++turn) {
    w = look_for_word(ring, node, at);
    if (w.is != word_arrival::nothing) break;
    if (ring.nodes > 1 && turn % between_looks == 0 && has_record_of_others(ring, node)) return false;
    if (end.over()) return false;
  }
  const arrival& a = w.a;
  const uint64_t bytes = a.bytes - 8;
  const bool wanted = w.is == word_arrival::here && (from == any_source || a.source() == from) &&
                      fits_tag(tag, a.tag()) && bytes <= most && fits_info(info, a.info());
  if (!wanted) return false;
  const ring_end e = end_of_ring(ring, node);
  acquire_after_spin(reinterpret_cast<const uint64_t*>(e.line(at)));
  const uint64_t after = at + a.lines();
  store_relaxed(e.taken, after);
  release_lines(e, at, after);
  return true;
}
// Whether a message was received. If not, the receive needs a request, with what `end` leaves.
template <class G>
GGAS_DEVICE bool receive_one_word(const G& g, message_rank r, void* to, uint64_t most, int from, int tag, uint32_t info,
                                  poll_deadline& end) {
  word_arrival w{};
  const bool got = first_thread_says(g, g.leads() && take_one_word(r, most, from, tag, info, end, w));
  if (got && g.leads()) {
    const uint64_t bytes = w.a.bytes - 8;
    matching_state& d = r.matching();
    d.source = w.a.source();
    d.tag = w.a.tag();
    d.info = w.a.info();
    d.bytes = bytes;
    store_word(to, bytes, w.word);
  }
  g.sync();
  return got;
}

}  // namespace ggas::detail
