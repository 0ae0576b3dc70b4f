// SPDX-License-Identifier: Apache-2.0
// What broadcast, allgather and alltoall share: data in lines, where destinations are, data stored straight into them.
// Vectors are words of 4 bytes here. Rules: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/move.cuh"
#include "ggas/detail/reduction.cuh"

namespace ggas::detail {

// Up to how many words of a part, for a block, an exchange in lines is quicker than telling where destinations are.
constexpr size_t words_in_lines = 4096;

// The channels whose slots a block uses for one exchange: its own one, or, if it is the only block, as many of the
// team's as the lines need. Every rule holds for each of them, so every member sends to every other one on each.
struct bundle {
  static constexpr unsigned most = 16;
  const channel& first;
  unsigned count;
  const uint64_t* seqs;  // of the exchange under way; shared by the block, not used if there is one channel

  GGAS_DEVICE channel of(unsigned number) const { return count > 1 ? first.sibling(number, seqs[number]) : first; }
};

GGAS_DEVICE unsigned channels_for(unsigned lines) {
  return lines <= channel::lines() ? 1 : (lines + channel::lines() - 1) / channel::lines();
}
// Whether the words of a part go in one exchange; `blocks` of the grid take part.
GGAS_DEVICE bool in_lines(size_t words, unsigned blocks) {
  if (words > words_in_lines) return false;
  const unsigned usable = blocks == 1 ? usable_channels(bundle::most) : 1;
  return channels_for(static_cast<unsigned>(lines_of<uint32_t>(words))) <= usable;
}

GGAS_DEVICE bundle open_bundle(const channel& first, unsigned lines) {
  GGAS_SHARED_ARRAY(uint64_t, seqs, bundle::most);
  const unsigned count = channels_for(lines);
  if (count > 1) {
    for (unsigned i = thread_rank(); i < count; i += thread_count())
      seqs[i] = (load_own(own_word(own_layout().channel_seq(first.team.id, i))) & ~channel_failed) + 1;
    __syncthreads();
  }
  return {first, count, seqs};
}
// Behind its exchange, before the first channel is closed.
GGAS_DEVICE void close_bundle(const bundle& b, ggas_status mine) {
  if (b.count == 1 || __syncthreads_or(mine != ggas_ok)) return;
  for (unsigned i = 1 + thread_rank(); i < b.count; i += thread_count())
    store_own(own_word(own_layout().channel_seq(b.first.team.id, i)), b.seqs[i]);
}

// A line's place in a slot and the number that it carries.
template <class Line>
struct line_place {
  Line* line;
  uint64_t seq;
};
using outgoing = line_place<channel_line>;
using incoming = line_place<const channel_line>;

// Line i of what this node sends to a member, and of what it gets from it.
GGAS_DEVICE outgoing outgoing_line(const bundle& b, int member, unsigned i) {
  if (b.count == 1) return {b.first.outbox(member) + i, b.first.seq};
  const channel c = b.of(i / channel::lines());
  return {c.outbox(member) + i % channel::lines(), c.seq};
}
GGAS_DEVICE incoming incoming_line(const bundle& b, int member, unsigned i) {
  if (b.count == 1) return {b.first.inbox(member) + i, b.first.seq};
  const channel c = b.of(i / channel::lines());
  return {c.inbox(member) + i % channel::lines(), c.seq};
}

// Numbers of lines of all other members, dealt out without a division: `each` of a member rounded up to a power of two.
struct line_grid {
  int size, own;  // of the team, own rank
  unsigned each, shift;
  GGAS_DEVICE line_grid(const channel& c, unsigned lines) : size(c.team.size), own(c.rank), each(lines), shift(0) {
    while (1u << shift < lines) ++shift;
  }
  GGAS_DEVICE unsigned count() const { return static_cast<unsigned>(size - 1) << shift; }
  GGAS_DEVICE unsigned line(unsigned x) const { return x & ((1u << shift) - 1); }
  GGAS_DEVICE bool has(unsigned x) const { return x < count() && line(x) < each; }
  GGAS_DEVICE int member(unsigned x) const {
    const int i = own + 1 + static_cast<int>(x >> shift);
    return i < size ? i : i - size;
  }
};

// By the whole block: sends the lines x < n that has(x) says there are; line(x, to) gives the data and sets where it
// goes. `Once` is how many a thread has under way.
template <unsigned Once, class Has, class Line>
GGAS_DEVICE void send_turns(unsigned n, Has has, Line line) {
  const unsigned threads = thread_count();
  GGAS_NO_UNROLL
  for (unsigned first = thread_rank(); first < n; first += Once * threads) {
    outgoing to[Once] = {};
    uint64_t data[Once] = {};
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      if (has(first + k * threads)) data[k] = line(first + k * threads, to[k]);
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      if (has(first + k * threads)) store_relaxed(to[k].line, line_of(to[k].seq, data[k]));
    }
  }
}

// By the whole block: waits for lines; from(x) is where line x arrives, put(x, data) takes what it brought.
template <unsigned Once, class Has, class From, class Put>
GGAS_DEVICE ggas_status receive_turns(const channel& c, unsigned n, Has has, From from, Put put, patience& end) {
  const unsigned threads = thread_count();
  GGAS_NO_UNROLL
  for (unsigned first = thread_rank(); first < n; first += Once * threads) {
    incoming at[Once] = {};
    channel_line l[Once] = {};
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      if (has(first + k * threads)) at[k] = from(first + k * threads);
    }
    for (bool all = false; !all;) {
      GGAS_UNROLL
      for (unsigned k = 0; k < Once; ++k) {
        if (at[k].line) l[k] = load_spin(at[k].line);
      }
      all = true;
      GGAS_UNROLL
      for (unsigned k = 0; k < Once; ++k) all = all && (!at[k].line || is_line_of(at[k].seq, l[k]));
      if (!all && (c.broken != 0 || end.over())) return ggas_timed_out;
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      if (at[k].line) put(first + k * threads, line_data(l[k]));
    }
  }
  return ggas_ok;
}

// One line a thread is quickest if there are enough threads; else the latencies of four go side by side.
template <class Has, class Line>
GGAS_DEVICE void send_lines(unsigned n, Has has, Line line) {
  if (n <= thread_count()) return send_turns<1>(n, has, line);
  send_turns<4>(n, has, line);
}
template <class Has, class From, class Put>
GGAS_DEVICE ggas_status receive_lines(const channel& c, unsigned n, Has has, From from, Put put, patience& end) {
  if (n <= thread_count()) return receive_turns<1>(c, n, has, from, put, end);
  return receive_turns<4>(c, n, has, from, put, end);
}

// By the whole block, once in an exchange: `lines` of them are sent to every other member.
GGAS_DEVICE void refresh_bundle(const bundle& b, unsigned lines) {
  for (unsigned i = 0; i < b.count; ++i) {
    const unsigned before = i * channel::lines();
    const unsigned used = lines - before < channel::lines() ? lines - before : channel::lines();
    refresh_slots(b.of(i), [=](int) { return used; });
  }
}

// By the whole block: one line to every other member.
GGAS_DEVICE void tell_all(const channel& c, uint64_t data) {
  for (int hop = 1 + static_cast<int>(thread_rank()); hop < c.team.size; hop += static_cast<int>(thread_count()))
    send_line(c, c.outbox(member_behind(c, hop)), data);
  refresh_slots(c, [](int) { return 1u; });
}

// By a thread, behind a block barrier: what the block stored before is at its target before what this thread sends
// next. Where the window is a NIC's, stores to one node keep their order behind a fence and data and line go the same
// way.
GGAS_DEVICE void release_stores() { fence_acq_rel_system(); }

// Waits for a line of a member; what it stored before its release_stores() is here then.
GGAS_DEVICE ggas_status await_stores(const channel& c, int member, patience& end) {
  uint64_t data;
  if (!take_line(c, c.inbox(member), data, end)) return ggas_timed_out;
  acquire_line(c.inbox(member));
  return ggas_ok;
}

// The last exchange of a collective that stored into destinations: everybody tells everybody that its data is there;
// while that is under way the block does `meanwhile`. A block barrier lies between the stores and this.
template <class Meanwhile>
GGAS_DEVICE ggas_status finish_stores(const channel& c, Meanwhile meanwhile, patience& end) {
  const int first = static_cast<int>(thread_rank()) + 1, threads = static_cast<int>(thread_count());
  if (first < c.team.size) release_stores();
  tell_all(c, 0);
  meanwhile();
  ggas_status s = ggas_ok;
  for (int hop = first; hop < c.team.size && s == ggas_ok; hop += threads)
    s = await_stores(c, member_behind(c, hop), end);
  return s;
}

// Where the other members' destinations are: each tells it in the first line of exchange `c`, as bytes from the start
// of its segment. Calls store(member, destination) for all that `wanted` says, by the whole block, in turns that
// differ from member to member.
template <class Wanted, class Store>
GGAS_DEVICE ggas_status store_to_others(const channel& c, Wanted wanted, Store store, patience& end) {
  constexpr int at_once = 8;
  GGAS_SHARED_ARRAY(uint64_t, places, at_once);
  const int rank = static_cast<int>(thread_rank()), threads = static_cast<int>(thread_count());
  for (int first = 1; first < c.team.size; first += at_once) {
    const int last = first + at_once < c.team.size ? first + at_once : c.team.size;
    ggas_status s = ggas_ok;
    for (int hop = first + rank; hop < last && s == ggas_ok; hop += threads) {
      if (!take_line(c, c.inbox(member_behind(c, hop)), places[hop - first], end)) s = ggas_timed_out;
    }
    if (__syncthreads_or(s != ggas_ok)) return ggas_timed_out;
    for (int hop = first; hop < last; ++hop) {
      const int member = member_behind(c, hop);
      const uint64_t place = places[hop - first];
      if (wanted(member)) store(member, ggas_pointer_of_node<uint32_t>(ggas_team_node(c.team, member), place));
    }
    if (last < c.team.size) __syncthreads();
  }
  return ggas_ok;
}

// Words [begin, end) of a vector that a block of a grid works on, cut at multiples of 16 bytes.
struct slice {
  size_t begin, end;
  GGAS_DEVICE size_t words() const { return end - begin; }
};
GGAS_DEVICE slice slice_of(size_t words, unsigned part, unsigned parts) {
  constexpr size_t unit = 4;
  if (parts == 1) return {0, words};
  const size_t units = (words + unit - 1) / unit;
  const size_t end = units * (part + 1) / parts * unit;
  return {units * part / parts * unit, end < words ? end : words};
}

// The part of the own segment that may be a destination.
GGAS_DEVICE bool own_place(const void* p, size_t bytes, uint64_t& offset) {
  const context& c = device_context();
  const auto at = reinterpret_cast<uintptr_t>(p), start = reinterpret_cast<uintptr_t>(c.local);
  offset = at - start;
  return p && at >= start && in_segment(c, c.node, offset, bytes);
}

template <class T>
GGAS_DEVICE bool elements_good(const T* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "elements have 4, 8 or 16 bytes");
  static_assert(__is_trivially_copyable(T), "collectives move plain data");
  return p && reinterpret_cast<uintptr_t>(p) % sizeof(T) == 0;
}

// Runs a collective on the channel of the calling block, one of `blocks`: run(channel, slice, patience). Blocks without
// words to move, or without a channel, have nothing to do.
template <class Run>
GGAS_DEVICE ggas_status on_channel(const ggas_team& team, unsigned block, unsigned blocks, size_t words,
                                   uint64_t timeout_ns, Run run) {
  const unsigned usable = usable_channels(blocks);
  if (block >= usable) return ggas_ok;
  const slice mine = slice_of(words, block, usable);
  if (mine.words() == 0) return ggas_ok;
  channel c = open_channel(team, block);
  if (c.failed) return close_channel(c, ggas_peer_error);
  patience end(timeout_ns);
  const ggas_status s = run(c, mine, end);
  return close_channel(c, s);
}

}  // namespace ggas::detail
