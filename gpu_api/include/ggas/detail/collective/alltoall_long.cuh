// SPDX-License-Identifier: Apache-2.0
// allgather and alltoall: what is not short. Methods: docs/collectives.md. Included by long.cuh.
#pragma once

#include "ggas/detail/collective/alltoall.cuh"

namespace ggas::detail {

template <class U>
GGAS_DEVICE void copy_own_part(const channel& c, const spread<U>& p, const slice& mine) {
  if (p.to(c.rank) != p.from(c.rank)) move_part(p.from(c.rank) + mine.begin, p.to(c.rank) + mine.begin, mine.units());
}

constexpr size_t spread_in_lines_until = 3 * 1024;  // lines for all others

// One exchange.
template <class U>
GGAS_DEVICE ggas_status spread_in_lines(channel& c, const spread<U>& p, const slice& mine, poll_deadline& end) {
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

// Two exchanges: the addresses of destinations, and, after the stores, the report of the end. No thread waits for the
// own part: a short part is copied during the two exchanges, a long one together with the part of the first peer.
template <class U>
GGAS_DEVICE ggas_status spread_directly(channel& c, const spread<U>& p, const channel_call<U>& call,
                                        poll_deadline& end) {
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

template <class U>
GGAS_LONG ggas_status spread_long(channel c, spread<U> p, channel_call<U> call, uint64_t timeout_ns) {
  return run_on(c, timeout_ns, [&](channel& at, poll_deadline& end) {
    return in_lines(at.team, call.lines(), call.blocks, spread_in_lines_until) ? spread_in_lines(at, p, call.mine, end)
                                                                               : spread_directly(at, p, call, end);
  });
}

}  // namespace ggas::detail
