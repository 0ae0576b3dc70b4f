// SPDX-License-Identifier: Apache-2.0
// gather and scatter: how they move. Included by long.cuh.
#pragma once

#include "ggas/detail/collective/rooted.cuh"

namespace ggas::detail {

template <direction D, class U>
GGAS_DEVICE void copy_part_of_root(const channel& c, const rooted<D, U>& p, const slice& mine) {
  if (c.rank != p.root) return;
  const U* const from = p.source(c.rank) + mine.begin;
  copy_beside(c, p.target(p.dst, c.rank) + mine.begin, from, mine.units());
}

// One exchange, for parts that fit a slot. A member without data sends one line without data, and every member waits
// for every member's first line.
template <direction D, class U>
GGAS_DEVICE ggas_status rooted_in_lines(channel& c, const rooted<D, U>& p, const slice& mine, poll_deadline& end) {
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
      if (!take_line(c, c.inbox(from) + i, data, end)) return no_line(c, c.inbox(from) + i);
      if (part) store_line(part, i, mine.units(), data);
    }
  }
  return ggas_ok;
}

// Two exchanges: where destinations are, and, after the stores, that they are done.
template <direction D, class U>
GGAS_DEVICE ggas_status rooted_directly(channel& c, const rooted<D, U>& p, const slice& mine, poll_deadline& end) {
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

template <direction D, class U>
GGAS_LONG ggas_status run_rooted(channel c, rooted<D, U> p, channel_call<U> call, uint64_t timeout_ns) {
  return run_on(c, timeout_ns, [&](channel& at, poll_deadline& end) {
    return call.lines() <= channel::lines() ? rooted_in_lines(at, p, call.mine, end)
                                            : rooted_directly(at, p, call.mine, end);
  });
}

}  // namespace ggas::detail
