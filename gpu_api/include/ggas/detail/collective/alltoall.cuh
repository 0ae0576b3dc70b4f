// SPDX-License-Identifier: Apache-2.0
// allgather and alltoall: every member has a part for every other one; in an allgather the same. Methods:
// docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/exchange.cuh"

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

// One exchange, a thread has one line at most.
template <class U>
GGAS_DEVICE ggas_status spread_short(channel& c, const spread<U>& p, const slice& part, poll_deadline& end) {
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

// For parts that are not short.
template <class U>
GGAS_LONG ggas_status spread_long(channel c, spread<U> p, channel_call<U> call, uint64_t timeout_ns);

// The channel's word is in flight while arguments are looked at; these make one branch.
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
    return run_on(c, timeout_ns, [&](channel& at, poll_deadline& end) { return spread_short(at, p, call.mine, end); });
  return spread_long(c, p, call, timeout_ns);
}

}  // namespace ggas::detail
