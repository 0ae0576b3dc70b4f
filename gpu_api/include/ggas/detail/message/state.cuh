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
// The calling rank, by the address of its part of the memory. Functions that are not inline take it as a value, so it
// is small.
struct message_rank {
  char* part;

  GGAS_DEVICE explicit message_rank(const ggas_messages& m)
      : part(reinterpret_cast<char*>(own_word(m.place + index_of_caller(m) * layout_of(m).bytes()))) {}
  GGAS_DEVICE matching_state& matching() const { return *reinterpret_cast<matching_state*>(part); }
  GGAS_DEVICE int me() const { return matching().me; }
  GGAS_DEVICE message_chain& chain(uint32_t i) const {
    return reinterpret_cast<message_chain*>(part + matching().chains)[i];
  }
  GGAS_DEVICE waiting_message& waiting(uint32_t place) const {
    return *reinterpret_cast<waiting_message*>(part + matching().messages + (place - 1) * message_layout::line);
  }
  GGAS_DEVICE uint64_t* data(uint32_t place) const {
    return reinterpret_cast<uint64_t*>(part + matching().data + (place - 1) * uint64_t{matching().all.short_bytes});
  }
  GGAS_DEVICE message_request& request(int slot) const {
    return *reinterpret_cast<message_request*>(part + matching().slots +
                                               static_cast<unsigned>(slot) * 2 * message_layout::line);
  }
  // The part of another rank, as an offset in the segment of its node, and the rings to it.
  GGAS_DEVICE uint64_t part_of(int rank) const {
    const matching_state& d = matching();
    return d.all.place + static_cast<unsigned>(rank % d.node_ranks) * d.part_bytes;
  }
  GGAS_DEVICE int node_of(int rank) const { return rank / matching().node_ranks; }
  GGAS_DEVICE ring_shape ring_of(int rank) const {
    const ring_shape own = matching().ring;
    return {part_of(rank) + message_layout::ring(), own.nodes, own.lines_log2};
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
  const uint32_t places = r.matching().all.waiting;
  if (kind == 3) return 3 * places;
  uint32_t hash = 0;
  if ((kind & 1) == 0) hash += static_cast<uint32_t>(source) * 0x9e3779b1u;
  if ((kind & 2) == 0) hash += static_cast<uint32_t>(tag) * 0x85ebca6bu;
  return kind * places + ((hash ^ hash >> 15) & (places - 1));
}
GGAS_DEVICE message_chain load_chain(message_rank r, uint32_t i) {
  const message_chain c = r.chain(i);
  const auto launch = static_cast<uint32_t>(r.matching().launch);
  return c.launch == launch ? c : message_chain{launch, 0, 0};
}

// A place that is free, or 0.
GGAS_DEVICE uint32_t free_place(message_rank r) {
  const matching_state& d = r.matching();
  if (d.free != 0) return d.free;
  return d.fresh < d.all.waiting ? d.fresh + 1 : 0;
}

// The message is after all others. Its place is free_place().
GGAS_DEVICE void add_waiting(message_rank r, uint32_t place) {
  matching_state& d = r.matching();
  waiting_message& w = r.waiting(place);
  if (d.free == place)
    d.free = w.next[0];
  else
    d.fresh = place;
  ++d.waiting;
  GGAS_UNROLL
  for (unsigned kind = 0; kind < waiting_message::chains; ++kind) {
    const uint32_t i = chain_index(r, kind, w.source, w.tag);
    message_chain c = load_chain(r, i);
    w.next[kind] = 0;
    w.before[kind] = c.last;
    if (c.last != 0)
      r.waiting(c.last).next[kind] = static_cast<uint16_t>(place);
    else
      c.first = static_cast<uint16_t>(place);
    c.last = static_cast<uint16_t>(place);
    r.chain(i) = c;
  }
}
GGAS_DEVICE void remove_waiting(message_rank r, uint32_t place) {
  matching_state& d = r.matching();
  waiting_message& w = r.waiting(place);
  GGAS_UNROLL
  for (unsigned kind = 0; kind < waiting_message::chains; ++kind) {
    const uint32_t i = chain_index(r, kind, w.source, w.tag);
    message_chain c = load_chain(r, i);
    const uint16_t next = w.next[kind], before = w.before[kind];
    if (before != 0)
      r.waiting(before).next[kind] = next;
    else
      c.first = next;
    if (next != 0)
      r.waiting(next).before[kind] = before;
    else
      c.last = before;
    r.chain(i) = c;
  }
  w.next[0] = static_cast<uint16_t>(d.free);
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
    if ((source == any_source || w.source == source) && fits_tag(tag, w.tag)) break;
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
                     to == message_request::asked || to == message_request::sending || to == message_request::answering;
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
  const uint64_t all = ~uint64_t{0} >> (64 - d.all.requests);
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
  if (static_cast<unsigned>(slot) >= r.matching().all.requests) return no_request;
  const message_request& q = r.request(slot);
  return q.number == number && q.state == state ? slot : no_request;
}

// What a receive found. By the first thread.
GGAS_DEVICE void note_match(message_request& q, int source, int tag, uint32_t info, uint64_t bytes) {
  q.source = source;
  q.found_tag = tag;
  q.found_info = info;
  q.found_bytes = bytes;
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
// The receive has matched a long message. By the first thread.
GGAS_DEVICE void match_long(message_rank r, int slot, uint64_t other, uint64_t address) {
  message_request& q = r.request(slot);
  q.other = other;
  q.address = address;
  set_stage(r, slot, address != 0 ? message_request::copying : message_request::answering);
}

}  // namespace ggas::detail
