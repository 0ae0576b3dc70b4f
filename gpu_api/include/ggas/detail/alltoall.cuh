// SPDX-License-Identifier: Apache-2.0
// allgather and alltoall: every member has a part for every other one; in an allgather the same. Methods:
// docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/exchange.cuh"

namespace ggas::detail {

// In units: parts of `n` go from src + member * step to dst + own rank * n of the member.
template <class U>
struct spread {
  U* dst;
  const U* src;
  size_t n, step;
  uint64_t place;  // of dst in the own segment, bytes

  GGAS_DEVICE const U* to(int member) const { return src + size_t{static_cast<uint32_t>(member)} * step; }
  GGAS_DEVICE U* from(int member) const { return dst + size_t{static_cast<uint32_t>(member)} * n; }
};

template <class U>
GGAS_DEVICE void copy_own_part(const channel& c, const spread<U>& p, const slice& mine) {
  if (p.to(c.rank) != p.from(c.rank)) move_part(p.from(c.rank) + mine.begin, p.to(c.rank) + mine.begin, mine.units());
}

constexpr size_t spread_in_lines_until = 3 * 1024;  // lines for all others

// One exchange.
template <class U>
GGAS_DEVICE ggas_status spread_in_lines(channel& c, const spread<U>& p, const slice& mine, patience& end) {
  const line_plan plan(lines_of_part<U>(mine.units()));
  c.bundled = plan.channels;
  send_lines(c, plan, mine.units(), [&](int member) { return p.to(member) + mine.begin; });
  look_for_failure(c);
  copy_own_part(c, p, mine);
  return receive_lines(
      c, plan, mine.units(), 1, c.team.size - 1, [&](int member) { return p.from(member) + mine.begin; }, end);
}

// Bytes of the own part that a block copies in the time of one hop, about.
constexpr size_t own_bytes_early = 24 * 1024;

// Two exchanges: where destinations are, and, behind the stores, that they are done. The own part, which nobody waits
// for, is copied while the others are told, at the start and at the end; a long one beside that of the first peer.
template <class U>
GGAS_DEVICE ggas_status spread_directly(channel& c, const spread<U>& p, const channel_call<U>& call, patience& end) {
  const slice& mine = call.mine;
  U* const to = p.from(c.rank) + mine.begin;
  const U* const from = p.to(c.rank) + mine.begin;
  const bool beside_peer = to != from && own_beside_peer(c, call.bytes(), call.blocks);
  constexpr size_t pair = units_per_pair<U>, most_early = own_bytes_early / sizeof(U);
  const size_t half = mine.units() / (2 * pair) * pair;
  const size_t early = beside_peer ? 0 : half < most_early ? half : most_early;
  tell_all(c, p.place);
  look_for_failure(c);
  copy_beside(c, to, from, early);
  const ggas_status s = store_to_others<U>(
      c, [](int) { return true; },
      [&](int member, U* dst) {
        U* const there = dst + static_cast<size_t>(c.rank) * p.n + mine.begin;
        const U* const part = p.to(member) + mine.begin;
        if (beside_peer && member == member_behind(c, 1))
          move_two_parts(there, part, to, from, mine.units());
        else
          move_part(there, part, mine.units());
      },
      end);
  if (!next_exchange(c, s)) return s;
  const size_t late = beside_peer ? 0 : mine.units() - early;
  return finish_stores(
      c, [&] { copy_beside(c, to + early, from + early, late); }, end);
}

// One exchange, a thread has one line at most.
template <class U>
GGAS_DEVICE ggas_status spread_short(channel& c, const spread<U>& p, const slice& part, patience& end) {
  const size_t units = part.units();
  const unsigned lines = lines_of_part<U>(units);
  const thread_line mine(lines, c.team.size);
  ggas_status s = ggas_ok;
  if (mine.any) {
    s = exchange_line(
        c, mine, units, [&](int member) { return p.to(member) + part.begin; },
        [&](int member) { return p.from(member) + part.begin; }, end);
  }
  refresh_slots(c, [=](int) { return lines; });
  return s;
}

template <class U>
GGAS_DEVICE ggas_status spread_long(channel& c, const spread<U>& p, const channel_call<U>& call, patience& end) {
  return in_lines(c.team, call.lines(), call.blocks, spread_in_lines_until) ? spread_in_lines(c, p, call.mine, end)
                                                                            : spread_directly(c, p, call, end);
}

// The channel's word is on its way while arguments are looked at; these make one branch.
template <class T>
GGAS_DEVICE ggas_status spread_parts(T* dst, const T* src, size_t n, size_t step, const ggas_team& team, unsigned block,
                                     unsigned blocks, uint64_t timeout_ns) {
  if (!ggas_team_good(team)) return ggas_bad_argument;
  if (n == 0) return ggas_ok;
  using U = unit_of<T>;
  constexpr size_t units = sizeof(T) / sizeof(U);
  spread<U> p{reinterpret_cast<U*>(dst), reinterpret_cast<const U*>(src), n * units, step * units, 0};
  const auto members = static_cast<size_t>(team.size);
  uint64_t source;
  const bool good = (n <= ggas_segment_bytes() / sizeof(T)) & elements_good(src) & elements_good(dst) &
                    own_place(src, (n + step * (members - 1)) * sizeof(T), source) &
                    own_place(dst, members * n * sizeof(T), p.place);
  const channel_call<U> call(block, blocks, p.n);
  if (call.mine.units() == 0) return good ? ggas_ok : ggas_bad_argument;
  channel c = find_channel(team, call.block);
  if (!good) return ggas_bad_argument;
  if (is_short<U>(call.mine.units(), team.size))
    return run_on(c, timeout_ns, [&](channel& at, patience& end) { return spread_short(at, p, call.mine, end); });
  return run_on(c, timeout_ns, [&](channel& at, patience& end) { return spread_long(at, p, call, end); });
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
