// SPDX-License-Identifier: Apache-2.0
// What broadcast, allgather and alltoall share: data in lines, where destinations are, data stored straight into them.
// Vectors are words of 4 bytes here. Rules: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/lines.cuh"
#include "ggas/detail/move.cuh"

namespace ggas::detail {

// ------------------------------------------------------------------------------------------------ in lines

// Up to how many words of a part, for a block, an exchange in lines is quicker than telling where destinations are.
constexpr size_t words_in_lines = 1024;

// One exchange moves what fits the slot of the block's channel; a block that is alone uses those of as many channels of
// the team as it needs. Every rule holds for each channel, so every member sends to every other one on each: a route.
struct route {
  channel_line* out;
  const channel_line* in;
  const uint32_t* src;
  uint32_t* dst;
  uint64_t seq;
  uint32_t words_out, words_in;

  // At least one line, also without data.
  GGAS_DEVICE static unsigned lines(uint32_t words) { return words <= 2 ? 1 : (words + 1) / 2; }
};
constexpr unsigned most_routes = 64, most_bundled = 16;

// Lines of a part, and how they are dealt out to channels: powers of two, so that nobody divides.
struct line_plan {
  unsigned channels, shift;  // 1 << shift: lines of a channel, rounded up
  GGAS_DEVICE explicit line_plan(unsigned lines) : channels(1), shift(0) {
    const unsigned slot = channel::lines();
    if (lines <= slot) {
      while (1u << shift < lines) ++shift;
    } else {
      while (2u << shift <= slot) ++shift;
      channels = (lines + (1u << shift) - 1) >> shift;
    }
  }
};
// Whether the words of a part go in one exchange; `blocks` of the grid take part.
GGAS_DEVICE bool in_lines(const ggas_team& t, size_t words, unsigned blocks) {
  if (words > words_in_lines) return false;
  const line_plan plan(route::lines(static_cast<uint32_t>(words)));
  const unsigned usable = blocks == 1 ? usable_channels(most_bundled) : 1;
  return plan.channels <= usable && plan.channels * static_cast<unsigned>(t.size - 1) <= most_routes;
}

// Route number i of the channels of a plan. parts(member, route) sets source, destination and words as if there were
// one channel.
template <class Parts>
GGAS_DEVICE route make_route(const channel& c, const line_plan& plan, unsigned i, Parts parts) {
  const auto others = static_cast<unsigned>(c.team.size - 1);
  const unsigned number = plan.channels == 1 ? 0 : i / others;
  const int member = member_behind(c, static_cast<int>(i - number * others) + 1);
  const channel k = c.sibling(number);
  route r{k.outbox(member), k.inbox(member), nullptr, nullptr, k.seq, 0, 0};
  parts(member, r);
  const uint32_t most = 2u << plan.shift, before = number * most;
  const auto here = [=](uint32_t words) {
    return plan.channels == 1 ? words : words <= before ? 0 : words - before < most ? words - before : most;
  };
  r.src += before;
  r.dst += before;
  r.words_out = here(r.words_out);
  r.words_in = here(r.words_in);
  return r;
}

// Lines first, first + threads ... of all routes, `Once` of them under way at a time.
template <unsigned Once>
GGAS_DEVICE void send_routes(const route* routes, unsigned n, unsigned shift) {
  const unsigned threads = thread_count(), mask = (1u << shift) - 1;
  GGAS_NO_UNROLL
  for (unsigned first = thread_rank(); first < n; first += Once * threads) {
    uint64_t data[Once] = {};
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      const unsigned x = first + k * threads;
      if (x < n && routes[x >> shift].words_out > 0)
        data[k] = load_elements(routes[x >> shift].src, x & mask, routes[x >> shift].words_out);
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      const unsigned x = first + k * threads;
      if (x >= n) break;
      const route& r = routes[x >> shift];
      if ((x & mask) < route::lines(r.words_out)) store_relaxed(r.out + (x & mask), line_of(r.seq, data[k]));
    }
  }
}
template <unsigned Once>
GGAS_DEVICE ggas_status receive_routes(const channel& c, const route* routes, unsigned n, unsigned shift,
                                       patience& end) {
  const unsigned threads = thread_count(), mask = (1u << shift) - 1;
  GGAS_NO_UNROLL
  for (unsigned first = thread_rank(); first < n; first += Once * threads) {
    const channel_line* at[Once] = {};
    uint32_t seq[Once] = {};
    channel_line l[Once] = {};
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      const unsigned x = first + k * threads;
      if (x >= n || (x & mask) >= route::lines(routes[x >> shift].words_in)) continue;
      at[k] = routes[x >> shift].in + (x & mask);
      seq[k] = static_cast<uint32_t>(routes[x >> shift].seq);
    }
    for (bool all = false; !all;) {
      GGAS_UNROLL
      for (unsigned k = 0; k < Once; ++k) {
        if (at[k]) l[k] = load_spin(at[k]);
      }
      all = true;
      GGAS_UNROLL
      for (unsigned k = 0; k < Once; ++k) all = all && (!at[k] || is_line_of(seq[k], l[k]));
      if (!all && (c.broken != 0 || end.over())) return ggas_timed_out;
    }
    GGAS_UNROLL
    for (unsigned k = 0; k < Once; ++k) {
      const unsigned x = first + k * threads;
      if (!at[k] || routes[x >> shift].words_in == 0) continue;
      store_elements(routes[x >> shift].dst, x & mask, routes[x >> shift].words_in, line_data(l[k]));
    }
  }
  return ggas_ok;
}

GGAS_DEVICE void refresh_routes(const route* routes, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned k = route::lines(routes[i].words_out) + thread_rank(); k < channel::lines(); k += thread_count())
      store_relaxed(routes[i].out + k, line_of(routes[i].seq, 0));
  }
}

// One exchange by the whole block, a complete one: `words` of a part at most. Does `meanwhile` while lines are on their
// way. One line a thread is quickest if there are enough threads; else the latencies of four go side by side.
template <class Parts, class Meanwhile>
GGAS_DEVICE ggas_status exchange_lines(channel& c, size_t words, Parts parts, Meanwhile meanwhile, patience& end) {
  GGAS_SHARED_ARRAY(route, routes, most_routes);
  const line_plan plan(route::lines(static_cast<uint32_t>(words)));
  const unsigned count = static_cast<unsigned>(c.team.size - 1) * plan.channels, n = count << plan.shift;
  c.bundled = plan.channels;
  bool due = false;
  for (unsigned i = thread_rank(); i < count; i += thread_count()) {
    routes[i] = make_route(c, plan, i, parts);
    due = due || slot_is_due(routes[i].seq);
  }
  due = __syncthreads_or(due) != 0;
  const bool few = n <= thread_count();
  few ? send_routes<1>(routes, n, plan.shift) : send_routes<4>(routes, n, plan.shift);
  if (due) refresh_routes(routes, count);
  meanwhile();
  return few ? receive_routes<1>(c, routes, n, plan.shift, end) : receive_routes<4>(c, routes, n, plan.shift, end);
}

// ------------------------------------------------------------------------------------------------ direct stores

// Words to a destination, by the whole block.
GGAS_DEVICE void move_part(uint32_t* to, const uint32_t* from, size_t words) {
  const unsigned rank = thread_rank(), threads = thread_count();
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % sizeof(word_pair) != 0)
    return move_bytes(to, from, words * sizeof(uint32_t), rank, threads);
  constexpr size_t unit = sizeof(word_pair) / sizeof(uint32_t);
  const auto* const source = reinterpret_cast<const word_pair*>(from);
  move_words<4>(reinterpret_cast<word_pair*>(to), words / unit, rank, threads,
                [=](uint64_t i) { return load_own(source + i); });
  const size_t left = words / unit * unit + rank;
  if (left < words) store_relaxed(to + left, load_own(from + left));
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

// What a collective does on the channel of the calling block: its slice of the words of a part.
struct channel_call {
  ggas_team team;
  unsigned block, blocks;  // of the blocks that have a channel
  slice mine;
  uint64_t timeout_ns;
  // Blocks without words to move, or without a channel, have nothing to do.
  GGAS_DEVICE channel_call(const ggas_team& t, unsigned number, unsigned all, size_t words, uint64_t timeout)
      : team(t), block(number), blocks(usable_channels(all)), mine{0, 0}, timeout_ns(timeout) {
    if (block < blocks) mine = slice_of(words, block, blocks);
  }
};
template <class Run>
GGAS_DEVICE ggas_status on_channel(const channel_call& call, Run run) {
  channel c = open_channel(call.team, call.block);
  patience end(call.timeout_ns);
  const ggas_status s = c.failed ? ggas_peer_error : run(c, end);
  return close_channel(c, s);
}

}  // namespace ggas::detail
