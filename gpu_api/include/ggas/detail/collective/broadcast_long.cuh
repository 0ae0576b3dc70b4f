// SPDX-License-Identifier: Apache-2.0
// broadcast: what is not short. Methods: docs/collectives.md. Included by long.cuh.
#pragma once

#include "ggas/detail/collective/broadcast.cuh"

namespace ggas::detail {

// Limits of the bytes that a block of the root would store to its leaves. Up to the first limit they go as lines. From
// the second limit on loads by the leaves are faster, as long as the leaves have few enough blocks for the root's GPU
// to serve them at full speed.
constexpr size_t broadcast_in_lines_until = 4 * 1024, loads_from = 80 * 1024;
constexpr unsigned blocks_served = 8;
constexpr int most_forwarding = 64;  // members of a team whose leaves forward

template <class U>
GGAS_DEVICE void copy_at_root(const channel& c, const broadcast_call<U>& p, const slice& mine) {
  if (c.rank == p.root && p.dst != p.src) move_part(p.dst + mine.begin, p.src + mine.begin, mine.units());
}

template <class U>
GGAS_DEVICE ggas_status finish_broadcast(const channel& c, const broadcast_call<U>& p, const slice& mine,
                                         poll_deadline& end) {
  return finish_stores(
      c,
      [&] {
        const U* const from = p.src + mine.begin;
        copy_beside(c, p.dst + mine.begin, from, c.rank == p.root ? mine.units() : 0);
      },
      end);
}

// One exchange. The root does not wait for its leaves, and these wait only for the root. Every member reports to every
// other one that it has entered; this report is checked two calls later. So calls in sequence cost the time of
// the lines, not a round trip. A leaf checks it while the root's lines are in flight.
template <class U>
GGAS_DEVICE ggas_status broadcast_in_lines(channel& c, const broadcast_call<U>& p, const slice& mine,
                                           poll_deadline& end) {
  const line_plan plan(lines_of_part<U>(mine.units()));
  c.bundled = plan.channels;
  if (c.rank == p.root) {
    const way_to_leaves way(c.team);
    send_parts(
        c, plan, mine.units(), way.times(c), [=](const channel& at, int hop) { return way.outbox(at, hop); },
        [&](int) { return p.src + mine.begin; });
    const early_look earlier(c);
    look_for_failure(c);
    copy_at_root(c, p, mine);
    return earlier.hear(c, end);
  }
  send_empty_lines(c);
  const early_look earlier(c);
  look_for_failure(c);
  const int hop = p.root > c.rank ? p.root - c.rank : p.root - c.rank + c.team.size;
  const ggas_status s = receive_lines(
      c, plan, mine.units(), hop, 1, [&](int) { return p.dst + mine.begin; }, end);
  const ggas_status heard = earlier.hear(c, end);
  return heard == ggas_ok ? s : heard;
}

// For a block of a root whose NIC copies stores. It stores once for all leaves, if all destinations have the same
// offset as the root's own. Otherwise nothing is stored, and `alike` is false.
template <class U>
GGAS_DEVICE ggas_status store_to_all(const channel& c, const broadcast_call<U>& p, const slice& mine, bool& alike,
                                     poll_deadline& end) {
  bool others = false;
  const ggas_status s = hear_all(
      c,
      [&](int member, uint64_t place) {
        acquire_line(c.inbox(member));
        others |= place != p.place;
      },
      end);
  if (__syncthreads_or(s != ggas_ok)) return failed_somewhere(s);
  alike = !__syncthreads_or(others);
  if (alike)
    move_part(reinterpret_cast<U*>(window_of_others() + p.place) + mine.begin, p.src + mine.begin, mine.units());
  return ggas_ok;
}

// The root stores to one leaf after the other. If required, it makes its own copy together with the first leaf's.
// Leaves receive the addresses of all.
template <class U>
GGAS_DEVICE ggas_status store_to_each(const channel& c, const broadcast_call<U>& p, const slice& mine, bool beside_leaf,
                                      poll_deadline& end) {
  const U* const from = p.src + mine.begin;
  return store_to_others<U>(
      c, [&](int) { return c.rank == p.root; },
      [&](int member, U* dst) {
        if (beside_leaf && member == member_behind(c, 1))
          move_two_parts(dst + mine.begin, from, p.dst + mine.begin, from, mine.units());
        else
          move_part(dst + mine.begin, from, mine.units());
      },
      end);
}

// Two exchanges. The first reports the addresses of destinations; then the root stores everything to every member. The
// second reports the end. The root makes its own copy at the end; a long one is made together with that of the first
// leaf.
template <class U>
GGAS_DEVICE ggas_status broadcast_directly(channel& c, const broadcast_call<U>& p, const channel_call<U>& call,
                                           poll_deadline& end) {
  const slice& mine = call.mine;
  const bool beside_leaf = p.dst != p.src && own_beside_peer(c, call.bytes(), call.blocks);
  tell_all(c, p.place);
  ggas_status s = ggas_ok;
  bool stored = false;
  if (c.rank == p.root && way_to_leaves(c.team).copied) s = store_to_all(c, p, mine, stored, end);
  if (s == ggas_ok && !stored) s = store_to_each(c, p, mine, beside_leaf, end);
  if (!next_exchange(c, s)) return s;
  return finish_broadcast(c, p, beside_leaf && !stored ? slice{mine.begin, mine.begin} : mine, end);
}

// Units that the root stores to every leaf while the leaves load the rest: the number that it can store in that time,
// and if necessary copy for itself.
template <class U>
GGAS_DEVICE size_t units_pushed(size_t units, int members, bool in_place) {
  constexpr size_t pair = units_per_pair<U>;
  return units / (static_cast<unsigned>(members) * 8) * (in_place ? 8 : 4) / pair * pair;
}

// Two exchanges. In the first the root reports the vector's address and whether it is the root's destination, too. Each
// leaf reports its destination. All leaves load most of the vector at the same time: a block loads as fast as it
// stores, but the root's block would have to store the vector to each leaf. At the end every member makes a fence and
// reports to every member; this orders its loads before later stores of the root.
template <class U>
GGAS_DEVICE ggas_status broadcast_both_ways(channel& c, const broadcast_call<U>& p, const slice& mine,
                                            poll_deadline& end) {
  GGAS_SHARED(uint64_t, said_by_root);
  const bool is_root = c.rank == p.root;
  if (is_root && static_cast<int>(thread_rank()) + 1 < c.team.size) release_stores();
  tell_all(c, is_root ? p.source << 1 | (p.dst == p.src) : p.place);
  ggas_status s = ggas_ok;
  if (is_root) {
    const size_t pushed = units_pushed<U>(mine.units(), c.team.size, p.dst == p.src);
    s = store_to_others<U>(
        c, [](int) { return true; }, [&](int, U* dst) { move_part(dst + mine.begin, p.src + mine.begin, pushed); },
        end);
  } else {
    s = hear_all(
        c,
        [&](int member, uint64_t said) {
          if (member != p.root) return;
          acquire_line(c.inbox(member));
          said_by_root = said;
        },
        end);
    if (__syncthreads_or(s != ggas_ok)) return failed_somewhere(s);
    const size_t begin = mine.begin + units_pushed<U>(mine.units(), c.team.size, said_by_root % 2 != 0);
    const auto* const src = ggas_pointer_of_node<U>(ggas_team_node(c.team, p.root), said_by_root >> 1);
    move_bytes<origin::remote>(p.dst + begin, src + begin, (mine.end - begin) * sizeof(U),
                               movers{thread_rank(), thread_count()});
  }
  if (!next_exchange(c, s)) return s;
  return finish_broadcast(c, p, mine, end);
}

// The piece of a leaf: what it gets from the root and stores to the other leaves.
template <class U>
GGAS_DEVICE slice piece_of(const channel& c, const broadcast_call<U>& p, const slice& all, int member) {
  const auto leaf = static_cast<unsigned>((member - p.root - 1 + c.team.size) % c.team.size);
  const slice s = slice_of<U>(all.units(), leaf, static_cast<unsigned>(c.team.size - 1));
  return {all.begin + s.begin, all.begin + s.end};
}

// Stores units [piece.begin, piece.end) of the vector from the root to every leaf, and to this leaf first. `places`:
// the root's source and the leaves' destinations.
template <class W, class U>
GGAS_DEVICE void forward_words(const channel& c, const broadcast_call<U>& p, const uint64_t* places,
                               const slice& piece) {
  constexpr size_t unit = sizeof(W) / sizeof(U);
  const auto* const from = reinterpret_cast<const W*>(places[p.root]) + piece.begin / unit;
  move_each<words_in_flight>(
      piece.units() / unit, movers{thread_rank(), thread_count()}, [=](uint64_t i) { return load_relaxed(from + i); },
      [&](uint64_t i, const W& v) {
        GGAS_NO_UNROLL
        for (int hop = 0; hop < c.team.size; ++hop) {
          const int member = member_behind(c, hop);
          if (member != p.root) store_relaxed(reinterpret_cast<W*>(places[member]) + piece.begin / unit + i, v);
        }
      });
}
template <class U>
GGAS_DEVICE void forward_piece(const channel& c, const broadcast_call<U>& p, const uint64_t* places,
                               const slice& piece) {
  uint64_t all = 0;
  for (int i = 0; i < c.team.size; ++i) all |= places[i];
  constexpr size_t pair = units_per_pair<U>;
  const size_t wide = all % sizeof(word_pair) == 0 ? piece.begin + piece.units() / pair * pair : piece.begin;
  forward_words<word_pair>(c, p, places, {piece.begin, wide});
  forward_words<U>(c, p, places, {wide, piece.end});
}

// Two exchanges. In the first the root reports the address of the vector, and each leaf reports its destination. Each
// leaf loads its piece and stores it to all leaves, so that every link carries the vector once and no thread waits in
// between. As above, the end orders loads before later stores of the root.
template <class U>
GGAS_DEVICE ggas_status broadcast_by_leaves(channel& c, const broadcast_call<U>& p, const slice& mine,
                                            poll_deadline& end) {
  GGAS_SHARED_ARRAY(uint64_t, places, most_forwarding);
  const bool is_root = c.rank == p.root;
  if (is_root && static_cast<int>(thread_rank()) + 1 < c.team.size) release_stores();
  tell_all(c, is_root ? p.source : p.place);
  if (thread_rank() == 0) places[c.rank] = reinterpret_cast<uint64_t>(is_root ? p.src : p.dst);
  const ggas_status s = hear_all(
      c,
      [&](int member, uint64_t said) {
        acquire_line(c.inbox(member));
        const int node = ggas_team_node(c.team, member);
        places[member] = reinterpret_cast<uint64_t>(ggas_pointer_of_node<U>(node, said));
      },
      end);
  if (!next_exchange(c, s)) return s;
  if (!is_root) {
    forward_piece(c, p, places, piece_of(c, p, mine, c.rank));
    __syncthreads();
  }
  return finish_broadcast(c, p, mine, end);
}

// By stores to peers' memory, or by loads from it, too.
template <class U>
GGAS_DEVICE ggas_status broadcast_over_memory(channel& c, const broadcast_call<U>& p, const channel_call<U>& call,
                                              poll_deadline& end) {
  const auto leaves = static_cast<unsigned>(c.team.size - 1);
  const size_t here = call.bytes();
  look_for_failure(c);
  if (nic_page()) return broadcast_directly(c, p, call, end);
  if (leaves * here >= loads_from && leaves * call.blocks <= blocks_served)
    return broadcast_both_ways(c, p, call.mine, end);
  const bool many = leaves > 1 && c.team.size <= most_forwarding;
  const uint64_t beside = many ? uint64_t{leaves - 1} * here * call.blocks : 0;
  return beside > device_context().tuned.root_sends ? broadcast_by_leaves(c, p, call.mine, end)
                                                    : broadcast_directly(c, p, call, end);
}

template <class U>
GGAS_LONG ggas_status broadcast_long(channel c, broadcast_call<U> p, channel_call<U> call, uint64_t timeout_ns) {
  return run_on(c, timeout_ns, [&](channel& at, poll_deadline& end) {
    return in_lines(at.team, call.lines(), call.blocks, broadcast_in_lines_until)
               ? broadcast_in_lines(at, p, call.mine, end)
               : broadcast_over_memory(at, p, call, end);
  });
}

}  // namespace ggas::detail
