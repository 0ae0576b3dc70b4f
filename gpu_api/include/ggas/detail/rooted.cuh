// SPDX-License-Identifier: Apache-2.0
// gather and scatter: every member has a part for the root, or the root one for every member. Methods:
// docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/exchange.cuh"

namespace ggas::detail {

enum class direction { to_root, from_root };

// In units: a part has n of them. Parts of all members lie at the root one behind the other.
template <direction D, class U>
struct rooted {
  U* dst;
  const U* src;
  size_t n;
  int root;
  uint64_t place;  // of dst in the own segment, bytes

  GGAS_DEVICE bool carries(int from, int to) const { return (D == direction::to_root ? to : from) == root; }
  // What a member sends to another one, and where that one finds it from the start of its destination.
  GGAS_DEVICE const U* source(int to) const { return D == direction::to_root ? src : src + behind(to); }
  GGAS_DEVICE size_t behind(int member) const { return static_cast<uint32_t>(member) * n; }
  GGAS_DEVICE U* target(U* start, int from) const { return D == direction::to_root ? start + behind(from) : start; }
};

template <direction D, class U>
GGAS_DEVICE void copy_part_of_root(const channel& c, const rooted<D, U>& p, const slice& mine) {
  if (c.rank != p.root) return;
  const U* const from = p.source(c.rank) + mine.begin;
  copy_beside(c, p.target(p.dst, c.rank) + mine.begin, from, mine.units());
}

// One exchange, for parts that fit a slot. Who has nothing to say sends one line without data, and everybody waits for
// everybody's first line.
template <direction D, class U>
GGAS_DEVICE ggas_status rooted_in_lines(channel& c, const rooted<D, U>& p, const slice& mine, patience& end) {
  const unsigned lines = lines_of_part<U>(mine.units()), me = thread_rank(), threads = thread_count();
  const auto count = [&](int from, int to) { return p.carries(from, to) ? lines : 1; };
  GGAS_NO_UNROLL
  for (int hop = 1; hop < c.team.size; ++hop) {
    const int to = member_behind(c, hop);
    const bool carries = p.carries(c.rank, to);
    const U* const part = carries ? p.source(to) + mine.begin : nullptr;
    for (unsigned i = me; i < count(c.rank, to); i += threads)
      send_line(c, c.outbox(to) + i, carries ? load_line(part, i, mine.units()) : 0);
  }
  refresh_slots(c, [&](int to) { return count(c.rank, to); });
  look_for_failure(c);
  copy_part_of_root(c, p, mine);
  GGAS_NO_UNROLL
  for (int hop = 1; hop < c.team.size; ++hop) {
    const int from = member_behind(c, hop);
    U* const part = p.carries(from, c.rank) ? p.target(p.dst, from) + mine.begin : nullptr;
    for (unsigned i = me; i < count(from, c.rank); i += threads) {
      uint64_t data;
      if (!take_line(c, c.inbox(from) + i, data, end)) return ggas_timed_out;
      if (part) store_line(part, i, mine.units(), data);
    }
  }
  return ggas_ok;
}

// Two exchanges: where destinations are, and, behind the stores, that they are done.
template <direction D, class U>
GGAS_DEVICE ggas_status rooted_directly(channel& c, const rooted<D, U>& p, const slice& mine, patience& end) {
  tell_all(c, p.place);
  look_for_failure(c);
  const ggas_status s = store_to_others<U>(
      c, [&](int to) { return p.carries(c.rank, to); },
      [&](int to, U* dst) { move_part(p.target(dst, c.rank) + mine.begin, p.source(to) + mine.begin, mine.units()); },
      end);
  if (!next_exchange(c, s)) return s;
  return finish_stores(
      c, [&] { copy_part_of_root(c, p, mine); }, end);
}

template <direction D, class T>
GGAS_DEVICE ggas_status move_rooted(T* dst, const T* src, size_t n, int root, const ggas_team& team, unsigned block,
                                    unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team) || root < 0 || root >= team.size) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  using U = unit_of<T>;
  rooted<D, U> p{reinterpret_cast<U*>(dst), reinterpret_cast<const U*>(src), n * (sizeof(T) / sizeof(U)), root, 0};
  const bool is_root = ggas_team_rank(team) == root, to_root = D == direction::to_root;
  const size_t one = n * sizeof(T), all = one * static_cast<size_t>(team.size);
  const auto place_good = [](const T* v, size_t bytes, uint64_t& offset) {
    return elements_good(v) && own_place(v, bytes, offset);
  };
  uint64_t source;
  const bool good = n <= ggas_segment_bytes() / sizeof(T) &&
                    (!(to_root || is_root) || place_good(src, to_root ? one : all, source)) &&
                    (!(!to_root || is_root) || place_good(dst, to_root ? all : one, p.place));
  if (!good) return ggas_bad_argument;
  const channel_call<U> call(block, blocks, p.n);
  if (call.mine.units() == 0) return ggas_ok;
  channel c = find_channel(team, call.block);
  return run_on(c, timeout_ns, [&](channel& at, patience& end) {
    return call.lines() <= channel::lines() ? rooted_in_lines(at, p, call.mine, end)
                                            : rooted_directly(at, p, call.mine, end);
  });
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_gather_block(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                          const ggas_team& team) {
  using namespace ggas::detail;
  return move_rooted<direction::to_root>(dst, src, n, root, team, 0, 1, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_gather(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                    const ggas_team& team) {
  using namespace ggas::detail;
  return move_rooted<direction::to_root>(dst, src, n, root, team, block_rank(), block_count(), timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_scatter_block(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                           const ggas_team& team) {
  using namespace ggas::detail;
  return move_rooted<direction::from_root>(dst, src, n, root, team, 0, 1, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_scatter(T* dst, const T* src, size_t n, int root, uint64_t timeout_ns,
                                     const ggas_team& team) {
  using namespace ggas::detail;
  return move_rooted<direction::from_root>(dst, src, n, root, team, block_rank(), block_count(), timeout_ns);
}
