// SPDX-License-Identifier: Apache-2.0
// What a rank keeps of its messages: those that wait in four chains, and its requests. Plain memory of one rank, which
// its first thread writes; its other threads read after a sync. docs/messages.md. Included by message.cuh.
#pragma once

#include "ggas/detail/message/handle.hpp"
#include "ggas/detail/one_sided/put.cuh"
#include "ggas/detail/ranks/barrier.cuh"
#include "ggas/detail/ring.cuh"

namespace ggas::detail {

constexpr int any_tag = -1, no_request = -1;

// Who may be a rank.
template <class G>
concept a_message_group = is_same<G, thread_group> || is_same<G, warp_group> || is_same<G, block_group>;
template <class G>
constexpr ggas_rank_kind rank_kind_of = is_same<G, thread_group> ? ggas_rank_is_thread
                                        : is_same<G, warp_group> ? ggas_rank_is_warp
                                                                 : ggas_rank_is_block;

// Number of the caller among the ranks of its node.
GGAS_DEVICE unsigned index_of_caller(const ggas_messages& m) {
  const unsigned block = block_rank() - m.blocks.first;
  if (m.kind == ggas_rank_is_thread) return block * m.threads + thread_rank();
  if (m.kind == ggas_rank_is_warp) return block * (m.threads / 32) + thread_rank() / 32;
  return block;
}
// The calling rank, by the addresses of its part of the memory and of what all ranks share. Functions that are not
// inline take it as a value, so it is small.
struct message_rank {
  char* part;
  const message_facts* facts;

  GGAS_DEVICE explicit message_rank(const ggas_messages& m)
      : part(reinterpret_cast<char*>(
            own_word(m.place + message_layout::first() + index_of_caller(m) * layout_of(m).bytes()))),
        facts(reinterpret_cast<const message_facts*>(own_word(m.place))) {}
  GGAS_DEVICE matching_state& matching() const { return *reinterpret_cast<matching_state*>(part); }
  GGAS_DEVICE int me() const { return matching().me; }
  GGAS_DEVICE message_chain& chain(uint32_t i) const {
    return reinterpret_cast<message_chain*>(part + facts->chains)[i];
  }
  GGAS_DEVICE waiting_message& waiting(uint32_t place) const {
    return *reinterpret_cast<waiting_message*>(part + facts->messages + (place - 1) * message_layout::line);
  }
  GGAS_DEVICE uint64_t* data(uint32_t place) const {
    return reinterpret_cast<uint64_t*>(part + facts->data + (place - 1) * uint64_t{facts->short_bytes});
  }
  GGAS_DEVICE message_request& request(int slot) const {
    return *reinterpret_cast<message_request*>(part + facts->slots +
                                               static_cast<unsigned>(slot) * 2 * message_layout::line);
  }
  // The part of another rank, as an offset in the segment of its node, and the rings to it.
  GGAS_DEVICE uint64_t part_of(int rank) const {
    const int number = facts->nodes == 1 ? rank : rank % facts->node_ranks;
    return facts->place + message_layout::first() + static_cast<unsigned>(number) * facts->part_bytes;
  }
  GGAS_DEVICE int node_of(int rank) const { return facts->nodes == 1 ? 0 : rank / facts->node_ranks; }
  GGAS_DEVICE ring_shape ring_of(int rank) const { return ring_at(part_of(rank)); }
  GGAS_DEVICE ring_shape ring() const {
    return ring_at(reinterpret_cast<uintptr_t>(part) - reinterpret_cast<uintptr_t>(device_context().local));
  }
  GGAS_DEVICE int nodes() const { return static_cast<int>(facts->nodes); }

 private:
  GGAS_DEVICE ring_shape ring_at(uint64_t of) const {
    return {of + message_layout::ring(), facts->nodes, facts->lines_log2};
  }
};

// What each call reads, loaded at once, before anything depends on it. The loads are weak, for words of this rank and
// words that stay as they are while ranks run, so the first-level cache may have them; ptxas does not move them.
struct rank_view {
  matching_words own;
  fact_words shared;
  GGAS_DEVICE explicit rank_view(message_rank r)
      : own(load_at_once<matching_words>(r.part)), shared(load_at_once<fact_words>(r.facts)) {}

 private:
  struct alignas(16) two_words {
    uint64_t a, b;
  };
  template <class T>
  static GGAS_DEVICE T load_at_once(const void* from) {
    two_words w[sizeof(T) / sizeof(two_words)];
    GGAS_UNROLL
    for (unsigned i = 0; i < sizeof(T) / sizeof(two_words); ++i)
      w[i] = load_own_now(static_cast<const two_words*>(from) + i);
    T all;
    memcpy(&all, w, sizeof(T));
    return all;
  }
};

// ---- tags

// Those of programs are 0 or more. A communicator of MPI has negative ones: bits 30:23 its context, bits 22:0 the tag,
// all ones: any. So any_tag has the last context, and means any tag of programs.
constexpr int tag_bits = 23, tag_mask = (1 << tag_bits) - 1, contexts = 255;
GGAS_LAYOUT_FN bool is_of_context(int tag) { return tag < -(1 << tag_bits); }
GGAS_LAYOUT_FN int tag_of_context(int context, int tag) {
  return static_cast<int>(0x80000000u | static_cast<unsigned>(context) << tag_bits |
                          (static_cast<unsigned>(tag) & tag_mask));
}
GGAS_LAYOUT_FN int context_of_tag(int tag) { return tag >> tag_bits & 0xff; }
GGAS_LAYOUT_FN int tag_without_context(int tag) { return tag & tag_mask; }
GGAS_LAYOUT_FN bool is_any(int wanted) { return wanted < 0 && tag_without_context(wanted) == tag_mask; }
GGAS_LAYOUT_FN bool fits_tag(int wanted, int tag) {
  if (!is_any(wanted)) return wanted == tag;
  return wanted == any_tag ? tag >= 0 : wanted >> tag_bits == tag >> tag_bits;
}

// ---- messages that wait

// Chain `kind` has messages in the order they came: bit 0: of any source, bit 1: with any tag.
GGAS_DEVICE uint32_t chain_index(message_rank r, unsigned kind, int source, int tag) {
  const uint32_t places = r.facts->waiting;
  if (kind == 3) return 3 * places;
  uint32_t hash = 0;
  if ((kind & 1) == 0) hash += static_cast<uint32_t>(source) * 0x9e3779b1u;
  if ((kind & 2) == 0) hash += static_cast<uint32_t>(tag) * 0x85ebca6bu;
  return kind * places + ((hash ^ hash >> 15) & (places - 1));
}
GGAS_DEVICE message_chain load_chain(message_rank r, uint32_t i) {
  const uint64_t word = load_own_now(reinterpret_cast<const uint64_t*>(&r.chain(i)));  // without a branch between
  message_chain c;
  memcpy(&c, &word, sizeof c);
  const auto launch = static_cast<uint32_t>(r.matching().launch);
  return c.launch == launch ? c : message_chain{launch, 0, 0};
}

// A place that is free, or 0.
GGAS_DEVICE uint32_t free_place(message_rank r) {
  const matching_state& d = r.matching();
  if (d.free != 0) return d.free;
  return d.fresh < r.facts->waiting ? d.fresh + 1 : 0;
}

// The chains of a message. All are loaded before any is stored: one trip.
struct chains_of_message {
  static constexpr unsigned kinds = waiting_message::chains;
  uint32_t index[kinds];
  message_chain chain[kinds];
  GGAS_DEVICE chains_of_message(message_rank r, const message_head& h) {
    GGAS_UNROLL
    for (unsigned kind = 0; kind < kinds; ++kind) index[kind] = chain_index(r, kind, h.source, h.tag);
    GGAS_UNROLL
    for (unsigned kind = 0; kind < kinds; ++kind) chain[kind] = load_chain(r, index[kind]);
  }
};

// The message is after all others. Its place is free_place(). By the first thread.
GGAS_DEVICE void add_waiting(message_rank r, uint32_t place, const message_head& h) {
  matching_state& d = r.matching();
  const uint32_t next_free = r.waiting(place).next[0];
  chains_of_message c(r, h);
  waiting_message w{h, {}, {}, ++d.put_aside};
  GGAS_UNROLL
  for (unsigned kind = 0; kind < c.kinds; ++kind) {
    message_chain& of = c.chain[kind];
    w.before[kind] = of.last;
    if (of.last != 0)
      r.waiting(of.last).next[kind] = static_cast<uint16_t>(place);
    else
      of.first = static_cast<uint16_t>(place);
    of.last = static_cast<uint16_t>(place);
    r.chain(c.index[kind]) = of;
  }
  r.waiting(place) = w;
  if (d.free == place)
    d.free = next_free;
  else
    d.fresh = place;
  ++d.waiting;
}
GGAS_DEVICE void remove_waiting(message_rank r, uint32_t place) {
  matching_state& d = r.matching();
  const waiting_message w = r.waiting(place);
  chains_of_message c(r, w.head);
  GGAS_UNROLL
  for (unsigned kind = 0; kind < c.kinds; ++kind) {
    message_chain& of = c.chain[kind];
    const uint16_t next = w.next[kind], before = w.before[kind];
    if (before != 0)
      r.waiting(before).next[kind] = next;
    else
      of.first = next;
    if (next != 0)
      r.waiting(next).before[kind] = before;
    else
      of.last = before;
    if (before == 0 || next == 0) r.chain(c.index[kind]) = of;
  }
  r.waiting(place).next[0] = static_cast<uint16_t>(d.free);
  d.free = place;
  --d.waiting;
}

// The oldest that a receive with this source and tag wants; 0: there is none.
GGAS_DEVICE uint32_t find_waiting(message_rank r, int source, int tag) {
  if (r.matching().waiting == 0) return 0;
  const unsigned kind = (source == any_source ? 1u : 0u) | (is_any(tag) ? 2u : 0u);
  uint32_t place = load_chain(r, chain_index(r, kind, source, tag)).first;
  while (place != 0) {
    const waiting_message& w = r.waiting(place);
    if ((source == any_source || w.head.source == source) && fits_tag(tag, w.head.tag)) break;
    place = w.next[kind];
  }
  return place;
}

// ---- requests

GGAS_DEVICE int lowest_bit(uint64_t set) {
  const auto low = static_cast<unsigned>(set);
  const unsigned half = low != 0 ? low : static_cast<unsigned>(set >> 32);
  return (low != 0 ? 31 : 63) - leading_zeros(half & (~half + 1));
}
// f(slot) for each request of a set.
template <class F>
GGAS_DEVICE void for_requests(uint64_t set, F f) {
  GGAS_NO_UNROLL
  for (; set != 0; set &= set - 1) f(lowest_bit(set));
}

// The first thread moves a request to the set for its new state.
GGAS_DEVICE void set_stage(message_rank r, int slot, message_request::stage to) {
  matching_state& d = r.matching();
  const uint64_t bit = uint64_t{1} << slot;
  const bool moves = to == message_request::unmatched || to == message_request::queued ||
                     to == message_request::asked || to == message_request::sending ||
                     to == message_request::withdrawn || to == message_request::answering;
  d.posted = to == message_request::posted ? d.posted | bit : d.posted & ~bit;
  d.copying = to == message_request::copying ? d.copying | bit : d.copying & ~bit;
  d.moving = moves ? d.moving | bit : d.moving & ~bit;
  d.used = to == message_request::unused ? d.used & ~bit : d.used | bit;
  r.request(slot).state = to;
}
GGAS_DEVICE void end_request(message_rank r, int slot, ggas_status s) {
  r.request(slot).status = s;
  set_stage(r, slot, message_request::ended);
}

// A request of the rank; no_request: all are in use. By the first thread.
GGAS_DEVICE int make_request(message_rank r, message_request::stage first, void* buffer, uint64_t bytes, int peer,
                             int tag, uint32_t info) {
  matching_state& d = r.matching();
  const uint64_t all = ~uint64_t{0} >> (64 - r.facts->requests);
  if ((~d.used & all) == 0) return no_request;
  const int slot = lowest_bit(~d.used & all);
  message_request& q = r.request(slot);
  q.number = ++d.requests << 6 | static_cast<unsigned>(slot);
  q.peer = peer;
  q.tag = tag;
  q.info = info;
  q.leaders = is_private(buffer);
  q.buffer = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(buffer));
  q.bytes = bytes;
  q.moved = q.other = q.address = q.found_bytes = 0;
  q.found_info = 0;
  q.source = q.found_tag = any_source;
  set_stage(r, slot, first);
  return slot;
}
GGAS_DEVICE char* buffer_of(const message_request& q) {
  return reinterpret_cast<char*>(static_cast<uintptr_t>(q.buffer));
}

// The oldest receive that wants a message; no_request: none does.
GGAS_DEVICE int find_posted(message_rank r, int source, int tag) {
  int found = no_request;
  for_requests(r.matching().posted, [&](int slot) {
    const message_request& q = r.request(slot);
    const bool fits = (q.peer == any_source || q.peer == source) && fits_tag(q.tag, tag);
    if (fits && (found == no_request || q.number < r.request(found).number)) found = slot;
  });
  return found;
}
// What a number says, if it is one of a request that is in this state.
GGAS_DEVICE int find_request(message_rank r, uint64_t number, message_request::stage state) {
  const auto slot = static_cast<int>(number & 63);
  if (static_cast<unsigned>(slot) >= r.facts->requests) return no_request;
  const message_request& q = r.request(slot);
  return q.number == number && q.state == state ? slot : no_request;
}

// What a request of a receive found. By the first thread.
GGAS_DEVICE void note_match(message_request& q, const message_head& m) {
  q.source = m.source;
  q.found_tag = m.tag;
  q.found_info = m.info;
  q.found_bytes = m.bytes;
}
// Whether a receive gets the data of what it has matched.
GGAS_DEVICE bool fits_info(uint32_t wanted, uint32_t info) { return wanted == 0 || info == 0 || wanted == info; }
GGAS_DEVICE bool accepts(const message_request& q, uint64_t bytes, uint32_t info) {
  return bytes <= q.bytes && fits_info(q.info, info);
}
GGAS_DEVICE bool is_accepted(const message_request& q) { return accepts(q, q.found_bytes, q.found_info); }
GGAS_DEVICE ggas_status status_of_match(const message_request& q) {
  return is_accepted(q) ? ggas_ok : ggas_bad_argument;
}
// Whether memory of a rank is reached through a NIC.
GGAS_DEVICE bool is_behind_nic(message_rank r, int rank) {
  return (nic_queues() || nic_page()) && r.node_of(rank) != ggas_node();
}
// The receive has matched a long message. By the first thread.
GGAS_DEVICE void match_long(message_rank r, int slot, uint64_t other, uint64_t address) {
  message_request& q = r.request(slot);
  q.other = other;
  q.address = address;
  bool copies = address != 0;
  if (copies && is_behind_nic(r, q.source)) copies = is_accepted(q) && is_local(buffer_of(q), q.found_bytes);
  set_stage(r, slot, copies ? message_request::copying : message_request::answering);
}

}  // namespace ggas::detail
