// SPDX-License-Identifier: Apache-2.0
// broadcast. Methods: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/exchange.cuh"

namespace ggas::detail {

// From how many words that a block of the root would store to others than the first, forwarding by the leaves is
// quicker.
constexpr size_t two_hops_from = 64 * 1024;

struct cast {
  uint32_t* dst;
  const uint32_t* src;
  int root;
  uint64_t place;  // of dst in the own segment, bytes
};

GGAS_DEVICE void copy_at_root(const channel& c, const cast& p, const slice& mine) {
  if (c.rank == p.root && p.dst != p.src) move_part(p.dst + mine.begin, p.src + mine.begin, mine.words());
}

// One exchange, a complete one: everybody hears from everybody, but only the root's lines have data. It costs no more
// than the root's lines alone, as all lines travel at the same time.
GGAS_DEVICE ggas_status cast_in_lines(channel& c, const cast& p, const slice& mine, patience& end) {
  const auto words = static_cast<uint32_t>(mine.words());
  const auto parts = [&](int member, route& r) {
    r.src = p.src + mine.begin;
    r.dst = p.dst + mine.begin;
    if (c.rank == p.root) r.words_out = words;
    if (member == p.root) r.words_in = words;
  };
  return exchange_lines(
      c, words, parts, [&] { copy_at_root(c, p, mine); }, end);
}

// Two exchanges: where destinations are; the root stores everything to everybody; it is done.
GGAS_DEVICE ggas_status cast_directly(channel& c, const cast& p, const slice& mine, patience& end) {
  tell_all(c, p.place);
  const ggas_status s = store_to_others(
      c, [&](int) { return c.rank == p.root; },
      [&](int, uint32_t* dst) { move_part(dst + mine.begin, p.src + mine.begin, mine.words()); }, end);
  if (!next_exchange(c, s)) return s;
  return finish_stores(
      c, [&] { copy_at_root(c, p, mine); }, end);
}

// The piece of a leaf: what it gets from the root and stores to the other leaves, so that every link carries data.
GGAS_DEVICE slice piece_of(const channel& c, const cast& p, const slice& all, int member) {
  const auto leaf = static_cast<unsigned>((member - p.root - 1 + c.team.size) % c.team.size);
  const slice s = slice_of(all.words(), leaf, static_cast<unsigned>(c.team.size - 1));
  return {all.begin + s.begin, all.begin + s.end};
}

// Three exchanges: where destinations are; the root stores a piece to each leaf and tells it (the rooted one); a leaf
// stores its piece to the other leaves; it is done. Leaves say that they are here in the rooted one too.
GGAS_DEVICE ggas_status scatter_and_gather(channel& c, const cast& p, const slice& mine, patience& end) {
  const unsigned rank = thread_rank();
  const bool is_root = c.rank == p.root;
  const auto store_piece = [&](uint32_t* dst, const uint32_t* src, const slice& s) {
    move_part(dst + s.begin, src + s.begin, s.words());
  };
  const channel places = c;
  tell_all(places, p.place);
  ggas_status s = store_to_others(
      places, [&](int) { return is_root; },
      [&](int member, uint32_t* dst) { store_piece(dst, p.src, piece_of(c, p, mine, member)); }, end);
  if (!next_exchange(c, s)) return s;
  if (is_root) {
    if (static_cast<int>(rank) + 1 < c.team.size) release_stores();
    tell_all(c, 0);
  } else {
    tell_all(c, 0);
    if (rank == 0) s = await_stores(c, p.root, end);
    if (__syncthreads_or(s != ggas_ok)) return ggas_timed_out;
    s = store_to_others(
        places, [&](int member) { return member != p.root; },
        [&](int, uint32_t* dst) { store_piece(dst, p.dst, piece_of(c, p, mine, c.rank)); }, end);
  }
  if (!next_exchange(c, s)) return s;
  return finish_stores(
      c, [&] { copy_at_root(c, p, mine); }, end);
}

// One exchange, a thread has one line at most. The root does not wait for its leaves and these wait for the root alone;
// all tell all that they are here, which is heard two calls later: calls one behind the other cost what the lines cost,
// not the way to and fro.
GGAS_DEVICE ggas_status cast_short(const channel_call& call, const cast& p) {
  return on_channel(call, [&](channel& c, patience& end) {
    const auto words = static_cast<uint32_t>(call.mine.words());
    const unsigned lines = lines_of_words(words), line = thread_rank();
    const uint32_t* const src = p.src + call.mine.begin;
    uint32_t* const dst = p.dst + call.mine.begin;
    if (c.rank == p.root) {
      const thread_line mine(lines, c.team.size);
      if (mine.any) {
        const int member = member_behind(c, mine.hop);
        const uint64_t data = load_elements(src, mine.line, words);
        if (member != c.rank) send_line(c, c.outbox(member) + mine.line, data);
        if (member == c.rank && src != dst) store_elements(dst, mine.line, words, data);
      }
      refresh_slots(c, [=](int) { return lines; });
    } else {
      send_empty_lines(c);
      uint64_t data;
      if (line < lines && !take_line(c, c.inbox(p.root) + line, data, end)) return ggas_timed_out;
      if (line < lines) store_elements(dst, line, words, data);
    }
    return hear_of_earlier(c, end);
  });
}

template <class T>
GGAS_DEVICE ggas_status broadcast(T* dst, const T* src, size_t n, int root, const ggas_team& team, unsigned block,
                                  unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team) || root < 0 || root >= team.size) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  const bool is_root = ggas_team_rank(team) == root;
  cast p{reinterpret_cast<uint32_t*>(dst), reinterpret_cast<const uint32_t*>(src), root, 0};
  if (n > ggas_segment_bytes() / sizeof(T) || !elements_good(dst) || !own_place(dst, n * sizeof(T), p.place) ||
      (is_root && !elements_good(src)))
    return ggas_bad_argument;
  const size_t words = n * (sizeof(T) / sizeof(uint32_t));
  const channel_call call(team, block, blocks, words, timeout_ns);
  const size_t here = call.mine.words();
  if (here == 0) return ggas_ok;
  if (is_short(here, team.size)) return cast_short(call, p);
  return on_channel(call, [&](channel& c, patience& end) {
    if (in_lines(team, here, call.blocks)) return cast_in_lines(c, p, call.mine, end);
    const bool one_hop = (static_cast<size_t>(team.size) - 2) * here <= two_hops_from;
    return one_hop ? cast_directly(c, p, call.mine, end) : scatter_and_gather(c, p, call.mine, end);
  });
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_broadcast_block(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                             const ggas_team& team) {
  return ggas::detail::broadcast(dst, src, n, root, team, 0, 1, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_broadcast(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                       const ggas_team& team) {
  using namespace ggas::detail;
  return broadcast(dst, src, n, root, team, block_rank(), block_count(), timeout_ns);
}
