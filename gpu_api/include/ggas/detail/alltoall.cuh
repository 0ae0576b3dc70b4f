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

GGAS_DEVICE void copy_own_part(const channel& c, const spread& p, const slice& mine) {
  if (p.to(c.rank) != p.from(c.rank)) move_part(p.from(c.rank) + mine.begin, p.to(c.rank) + mine.begin, mine.words());
}

// One exchange.
GGAS_DEVICE ggas_status spread_in_lines(channel& c, const spread& p, const slice& mine, patience& end) {
  const auto parts = [&](int member, route& r) {
    r.src = p.to(member) + mine.begin;
    r.dst = p.from(member) + mine.begin;
    r.words_out = r.words_in = static_cast<uint32_t>(mine.words());
  };
  return exchange_lines(
      c, mine.words(), parts, [&] { copy_own_part(c, p, mine); }, end);
}

// Two exchanges: where destinations are, and, behind the stores, that they are done. The own part, which nobody waits
// for, is copied while the others are told.
GGAS_DEVICE ggas_status spread_directly(channel& c, const spread& p, const slice& mine, patience& end) {
  tell_all(c, p.place);
  const ggas_status s = store_to_others(
      c, [](int) { return true; },
      [&](int member, uint32_t* dst) {
        move_part(dst + static_cast<size_t>(c.rank) * p.n + mine.begin, p.to(member) + mine.begin, mine.words());
      },
      end);
  if (!next_exchange(c, s)) return s;
  return finish_stores(
      c, [&] { copy_own_part(c, p, mine); }, end);
}

// One exchange, a thread has one line at most.
GGAS_DEVICE ggas_status spread_short(const channel_call& call, const spread& p) {
  return on_channel(call, [&](channel& c, patience& end) {
    const auto words = static_cast<uint32_t>(call.mine.words());
    const thread_line mine(lines_of_words(words), c.team.size);
    ggas_status s = ggas_ok;
    if (mine.any) {
      s = exchange_line(
          c, mine, words, [&](int member) { return p.to(member) + call.mine.begin; },
          [&](int member) { return p.from(member) + call.mine.begin; }, end);
    }
    refresh_slots(c, [=](int) { return lines_of_words(words); });
    return s;
  });
}

template <class T>
GGAS_DEVICE ggas_status spread_parts(T* dst, const T* src, size_t n, size_t step, const ggas_team& team, unsigned block,
                                     unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team)) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  const auto members = static_cast<size_t>(team.size);
  constexpr size_t words = sizeof(T) / sizeof(uint32_t);
  spread p{reinterpret_cast<uint32_t*>(dst), reinterpret_cast<const uint32_t*>(src), n * words, step * words, 0};
  if (n > ggas_segment_bytes() / sizeof(T) || !elements_good(src) || !elements_good(dst) ||
      !own_place(dst, members * n * sizeof(T), p.place))
    return ggas_bad_argument;
  const channel_call call(team, block, blocks, p.n, timeout_ns);
  const size_t here = call.mine.words();
  if (here == 0) return ggas_ok;
  if (is_short(here, team.size)) return spread_short(call, p);
  return on_channel(call, [&](channel& c, patience& end) {
    return in_lines(team, here, call.blocks) ? spread_in_lines(c, p, call.mine, end)
                                             : spread_directly(c, p, call.mine, end);
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
