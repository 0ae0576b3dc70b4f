// SPDX-License-Identifier: Apache-2.0
// broadcast. Methods: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/exchange.cuh"

namespace ggas::detail {

// From how many words that a block of the root would store to others than the first, forwarding by the leaves is
// quicker.
constexpr size_t two_hops_from = 16 * 1024;

struct cast {
  uint32_t* dst;
  const uint32_t* src;
  int root;
  uint64_t place;  // of dst in the own segment, bytes
};

GGAS_DEVICE void copy_at_root(const channel& c, const cast& p, const slice& mine) {
  if (c.rank == p.root && p.dst != p.src)
    move_bytes(p.dst + mine.begin, p.src + mine.begin, mine.words() * sizeof(uint32_t), thread_rank(), thread_count());
}

// One exchange, a complete one: everybody hears from everybody, but only the root's lines have data. It costs no more
// than the root's lines alone, as all lines travel at the same time.
GGAS_DEVICE ggas_status send_from_root(const bundle& b, const cast& p, const slice& mine, unsigned lines,
                                       patience& end) {
  const channel& c = b.first;
  const line_grid g(c, lines), answers(c, b.count);
  send_lines(
      g.count(), [&](unsigned x) { return g.has(x); },
      [&](unsigned x, outgoing& to) {
        to = outgoing_line(b, g.member(x), g.line(x));
        return load_elements(p.src + mine.begin, g.line(x), mine.words());
      });
  refresh_bundle(b, lines);
  copy_at_root(c, p, mine);
  return receive_lines(
      c, answers.count(), [&](unsigned x) { return answers.has(x); },
      [&](unsigned x) { return incoming_line(b, answers.member(x), answers.line(x) * channel::lines()); },
      [](unsigned, uint64_t) {}, end);
}

// A leaf waits for the root's lines, and on each channel for one line of each other leaf.
GGAS_DEVICE ggas_status receive_at_leaf(const bundle& b, const cast& p, const slice& mine, unsigned lines,
                                        patience& end) {
  const channel& c = b.first;
  const line_grid answers(c, b.count);
  for (unsigned i = 0; i < b.count; ++i) tell_all(b.of(i), 0);
  return receive_lines(
      c, lines + answers.count(),
      [&](unsigned x) { return x < lines || (answers.has(x - lines) && answers.member(x - lines) != p.root); },
      [&](unsigned x) {
        if (x < lines) return incoming_line(b, p.root, x);
        return incoming_line(b, answers.member(x - lines), answers.line(x - lines) * channel::lines());
      },
      [&](unsigned x, uint64_t data) {
        if (x < lines) store_elements(p.dst + mine.begin, x, mine.words(), data);
      },
      end);
}

GGAS_DEVICE ggas_status cast_in_lines(channel& c, const cast& p, const slice& mine, patience& end) {
  const auto lines = static_cast<unsigned>(lines_of<uint32_t>(mine.words()));
  const bundle b = open_bundle(c, lines);
  const ggas_status s =
      c.rank == p.root ? send_from_root(b, p, mine, lines, end) : receive_at_leaf(b, p, mine, lines, end);
  close_bundle(b, s);
  return s;
}

// Two exchanges: where destinations are; the root stores everything to everybody; it is done.
GGAS_DEVICE ggas_status cast_directly(channel& c, const cast& p, const slice& mine, patience& end) {
  tell_all(c, p.place);
  const ggas_status s = store_to_others(
      c, [&](int) { return c.rank == p.root; },
      [&](int, uint32_t* dst) {
        move_bytes(dst + mine.begin, p.src + mine.begin, mine.words() * sizeof(uint32_t), thread_rank(),
                   thread_count());
      },
      end);
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
// stores its piece to the other leaves; it is done.
GGAS_DEVICE ggas_status scatter_and_gather(channel& c, const cast& p, const slice& mine, patience& end) {
  const unsigned rank = thread_rank(), threads = thread_count();
  const bool is_root = c.rank == p.root;
  const auto store_piece = [&](uint32_t* dst, const uint32_t* src, const slice& s) {
    move_bytes(dst + s.begin, src + s.begin, s.words() * sizeof(uint32_t), rank, threads);
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
    refresh_slots(c, [=](int) { return 0u; });
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

template <class T>
GGAS_DEVICE ggas_status broadcast(T* dst, const T* src, size_t n, int root, const ggas_team& team, unsigned block,
                                  unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team) || root < 0 || root >= team.size) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  const bool is_root = ggas_team_rank(team) == root;
  cast p{reinterpret_cast<uint32_t*>(dst), reinterpret_cast<const uint32_t*>(src), root, 0};
  if (n > ~0ull / sizeof(T) || !elements_good(dst) || !own_place(dst, n * sizeof(T), p.place) ||
      (is_root && !elements_good(src)))
    return ggas_bad_argument;
  const size_t words = n * (sizeof(T) / sizeof(uint32_t));
  return on_channel(team, block, blocks, words, timeout_ns, [&](channel& c, const slice& mine, patience& end) {
    if (in_lines(mine.words(), blocks)) return cast_in_lines(c, p, mine, end);
    const bool one_hop = (static_cast<size_t>(team.size) - 2) * mine.words() <= two_hops_from;
    return one_hop ? cast_directly(c, p, mine, end) : scatter_and_gather(c, p, mine, end);
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
