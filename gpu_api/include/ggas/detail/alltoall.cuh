// SPDX-License-Identifier: Apache-2.0
// allgather and alltoall: every member has a part for every other one; in an allgather the same. Methods:
// docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/exchange.cuh"

namespace ggas::detail {

// In words: parts of `n` go from src + member * step to dst + own rank * n of the member.
struct spread {
  uint32_t* dst;
  const uint32_t* src;
  size_t n, step;
  uint64_t place;  // of dst in the own segment, bytes

  GGAS_DEVICE const uint32_t* to(int member) const { return src + static_cast<size_t>(member) * step; }
  GGAS_DEVICE uint32_t* from(int member) const { return dst + static_cast<size_t>(member) * n; }
};

// One exchange.
GGAS_DEVICE ggas_status spread_in_lines(channel& c, const spread& p, const slice& mine, patience& end) {
  const size_t at = mine.begin, m = mine.words();
  const auto lines = static_cast<unsigned>(lines_of<uint32_t>(m));
  const line_grid g(c, lines);
  const auto has = [&](unsigned x) { return g.has(x); };
  const bundle b = open_bundle(c, lines);
  send_lines(g.count(), has, [&](unsigned x, outgoing& to) {
    to = outgoing_line(b, g.member(x), g.line(x));
    return load_elements(p.to(g.member(x)) + at, g.line(x), m);
  });
  refresh_bundle(b, lines);
  if (p.to(c.rank) != p.from(c.rank)) {
    for (unsigned i = thread_rank(); i < lines; i += thread_count())
      store_elements(p.from(c.rank) + at, i, m, load_elements(p.to(c.rank) + at, i, m));
  }
  const ggas_status s = receive_lines(
      c, g.count(), has, [&](unsigned x) { return incoming_line(b, g.member(x), g.line(x)); },
      [&](unsigned x, uint64_t data) { store_elements(p.from(g.member(x)) + at, g.line(x), m, data); }, end);
  close_bundle(b, s);
  return s;
}

// Two exchanges: where destinations are, and, behind the stores, that they are done. The own part, which nobody waits
// for, is copied while the others are told.
GGAS_DEVICE ggas_status spread_directly(channel& c, const spread& p, const slice& mine, patience& end) {
  const size_t bytes = mine.words() * sizeof(uint32_t);
  const unsigned rank = thread_rank(), threads = thread_count();
  tell_all(c, p.place);
  const ggas_status s = store_to_others(
      c, [](int) { return true; },
      [&](int member, uint32_t* dst) {
        move_bytes(dst + static_cast<size_t>(c.rank) * p.n + mine.begin, p.to(member) + mine.begin, bytes, rank,
                   threads);
      },
      end);
  if (!next_exchange(c, s)) return s;
  const auto copy_own = [&] {
    if (p.to(c.rank) != p.from(c.rank))
      move_bytes(p.from(c.rank) + mine.begin, p.to(c.rank) + mine.begin, bytes, rank, threads);
  };
  return finish_stores(c, copy_own, end);
}

template <class T>
GGAS_DEVICE ggas_status spread_parts(T* dst, const T* src, size_t n, size_t step, const ggas_team& team, unsigned block,
                                     unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team)) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  const auto members = static_cast<size_t>(team.size);
  constexpr size_t words = sizeof(T) / sizeof(uint32_t);
  spread p{reinterpret_cast<uint32_t*>(dst), reinterpret_cast<const uint32_t*>(src), n * words, step * words, 0};
  if (n > ~0ull / sizeof(T) / members || !elements_good(src) || !elements_good(dst) ||
      !own_place(dst, members * n * sizeof(T), p.place))
    return ggas_bad_argument;
  return on_channel(team, block, blocks, p.n, timeout_ns, [&](channel& c, const slice& mine, patience& end) {
    return in_lines(mine.words(), blocks) ? spread_in_lines(c, p, mine, end) : spread_directly(c, p, mine, end);
  });
}

}  // namespace ggas::detail

template <class T>
GGAS_DEVICE ggas_status ggas_allgather_block(T* dst, const T* src, size_t n, uint64_t timeout_ns,
                                             const ggas_team& team) {
  return ggas::detail::spread_parts(dst, src, n, 0, team, 0, 1, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_allgather(T* dst, const T* src, size_t n, uint64_t timeout_ns, const ggas_team& team) {
  using namespace ggas::detail;
  return spread_parts(dst, src, n, 0, team, block_rank(), block_count(), timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_alltoall_block(T* dst, const T* src, size_t n, uint64_t timeout_ns,
                                            const ggas_team& team) {
  return ggas::detail::spread_parts(dst, src, n, n, team, 0, 1, timeout_ns);
}
template <class T>
GGAS_DEVICE ggas_status ggas_alltoall(T* dst, const T* src, size_t n, uint64_t timeout_ns, const ggas_team& team) {
  using namespace ggas::detail;
  return spread_parts(dst, src, n, n, team, block_rank(), block_count(), timeout_ns);
}
