// SPDX-License-Identifier: Apache-2.0
// What broadcast, allgather and alltoall share: data in lines, where destinations are, data stored straight into them.
// Vectors are words of 4 bytes here. Rules: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/move.cuh"
#include "ggas/detail/reduction.cuh"

namespace ggas::detail {

// Up to how many words of a part, for a block, the exchanges in lines are quicker than telling where destinations are.
constexpr size_t words_in_lines = 1024;
GGAS_DEVICE bool in_lines(size_t words) { return words <= words_in_lines; }

// Lines that a thread sends or polls at once.
constexpr unsigned lines_at_once = 4;

// By the whole block: sends `n` lines. line(x, to) gives the data of line x and sets where it goes.
template <class Line>
GGAS_DEVICE void send_lines(const channel& c, unsigned n, Line line) {
  const unsigned threads = thread_count();
  for (unsigned first = thread_rank(); first < n; first += lines_at_once * threads) {
    channel_line* to[lines_at_once];
    uint64_t data[lines_at_once];
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) {
      if (first + k * threads < n) data[k] = line(first + k * threads, to[k]);
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) {
      if (first + k * threads < n) send_line(c, to[k], data[k]);
    }
  }
}

// By the whole block: waits for `n` lines; from(x) is where line x arrives, put(x, data) takes what it brought.
template <class From, class Put>
GGAS_DEVICE ggas_status receive_lines(const channel& c, unsigned n, From from, Put put, patience& end) {
  const unsigned threads = thread_count();
  for (unsigned first = thread_rank(); first < n; first += lines_at_once * threads) {
    channel_line l[lines_at_once];
    for (bool all = false; !all;) {
      GGAS_UNROLL
      for (unsigned k = 0; k < lines_at_once; ++k) {
        if (first + k * threads < n) l[k] = load_spin(from(first + k * threads));
      }
      all = true;
      GGAS_UNROLL
      for (unsigned k = 0; k < lines_at_once; ++k) {
        if (first + k * threads < n) all = all && line_here(c, l[k]);
      }
      if (!all && (c.broken != 0 || end.over())) return ggas_timed_out;
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) {
      if (first + k * threads < n) put(first + k * threads, line_data(l[k]));
    }
  }
  return ggas_ok;
}

// By the whole block: one line to every other member.
GGAS_DEVICE void tell_all(const channel& c, uint64_t data) {
  const auto others = static_cast<unsigned>(c.team.size - 1);
  send_lines(c, others, [&](unsigned x, channel_line*& to) {
    to = c.outbox(member_behind(c, static_cast<int>(x) + 1));
    return data;
  });
  refresh_slots(c, [=](int) { return 1u; });
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

// The last exchange of a collective that stored into destinations: everybody tells everybody that its data is there. A
// block barrier lies between the stores and this.
GGAS_DEVICE ggas_status finish_stores(const channel& c, patience& end) {
  const int first = static_cast<int>(thread_rank()) + 1, threads = static_cast<int>(thread_count());
  if (first < c.team.size) release_stores();
  tell_all(c, 0);
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
