// SPDX-License-Identifier: Apache-2.0
// scan: a one_shot in which each member sends to those after it and combines the lines of those before it, in the order
// of ranks. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/allreduce_lines.cuh"

namespace ggas::detail {

// For data that fit a slot. Members with lower ranks get, and members with higher ranks send, one line without data, as
// the rule of exchanges requires.
template <class T>
GGAS_DEVICE ggas_status scan_exchange(const channel& c, const piece<T>& p, ggas_scan_kind kind, poll_deadline& end) {
  const auto lines = static_cast<unsigned>(lines_of<T>(p.n)), me = thread_rank(), threads = thread_count();
  const auto count = [&](int to) { return to > c.rank ? lines : 1; };
  GGAS_NO_UNROLL
  for (int hop = 1; hop < c.team.size; ++hop) {
    const int to = member_behind(c, hop);
    for (unsigned i = me; i < count(to); i += threads)
      send_line(c, c.outbox(to) + i, to > c.rank ? load_elements(p.src, i, p.n) : 0);
  }
  refresh_slots(c, count);
  GGAS_NO_UNROLL
  for (unsigned i = me; i < lines; i += threads) {
    const uint64_t own = load_elements(p.src, i, p.n);
    uint64_t before = 0, data;
    for (int from = 0; from < c.rank; ++from) {
      if (!take_line(c, c.inbox(from) + i, data, end)) return no_line(c, c.inbox(from) + i);
      before = from == 0 ? data : combine_data<T>(p.op, before, data);
    }
    if (kind == ggas_scan_inclusive)
      store_elements(p.dst, i, p.n, c.rank == 0 ? own : combine_data<T>(p.op, before, own));
    else if (c.rank > 0)
      store_elements(p.dst, i, p.n, before);
  }
  for (int from = c.rank + 1 + static_cast<int>(me); from < c.team.size; from += static_cast<int>(threads)) {
    uint64_t nothing;
    if (!take_line(c, c.inbox(from), nothing, end)) return no_line(c, c.inbox(from));
  }
  return ggas_ok;
}

template <class T>
GGAS_DEVICE_FUNCTION ggas_status scan(piece<T> p, ggas_scan_kind kind, unsigned block, unsigned blocks, ggas_team team,
                                      uint64_t timeout_ns) {
  if (!ggas_team_good(team) || !operation_good<T>(p.op) || static_cast<unsigned>(kind) > ggas_scan_exclusive)
    return ggas_bad_argument;
  if (p.n == 0) return ggas_ok;
  if (!vector_good(p.src, p.n) || !vector_good(p.dst, p.n)) return ggas_bad_argument;
  const unsigned used = usable_channels(blocks);
  if (block >= used) return ggas_ok;
  const piece<T> part = part_of_block(p, part_elements<T>(p.n, used), block);
  if (part.n == 0) return ggas_ok;
  channel c = open_channel(team, block);
  return run_on(c, timeout_ns, [&](channel& at, poll_deadline& end) {
    return by_slots(at, part, [&](const piece<T>& chunk) { return scan_exchange(at, chunk, kind, end); });
  });
}

}  // namespace ggas::detail
