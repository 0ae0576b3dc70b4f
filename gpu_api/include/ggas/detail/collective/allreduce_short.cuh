// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce in one exchange in which a thread has one line at most, of up to 8 members. It contains only the
// frequent cases, because the cost of such a call is its number of instructions. A thread sends its line to every
// member, has a poll of every member's line in flight at once and combines the lines in registers. Included by
// collective.cuh.
#pragma once

#include "ggas/detail/collective/reduction.cuh"

namespace ggas::detail {

// Largest team whose short calls are inline. In a program that is linked with libggas_device it is half of the largest
// team for the short calls of the library, because inline calls add their registers to the kernel even if it makes
// other calls.
#ifdef GGAS_LINKED
constexpr int members_inline = 4;
#else
constexpr int members_inline = members_at_once;
#endif

// Source and destination of a thread's line: the address for rank 0, and a constant step from rank to rank. They are
// computed before the number of the exchange is known; at() adds the part that depends on this number.
struct line_places {
  uint64_t out, out_step, in;
  uint32_t in_step;

  GGAS_DEVICE line_places(const channel& c, unsigned line) {
    const context& own = device_context();
    const auto slot = static_cast<uint32_t>(own_layout().channel_bytes), first = static_cast<uint32_t>(c.team.first);
    const uint64_t behind = c.slots + line * sizeof(channel_line);
    out = reinterpret_cast<uint64_t>(own.window) + behind + uint64_t{static_cast<uint32_t>(own.node)} * slot +
          first * own.stride;
    in = reinterpret_cast<uint64_t>(own.local) + behind + uint64_t{first} * slot;
    out_step = static_cast<uint32_t>(c.team.stride) * own.stride;
    in_step = static_cast<uint32_t>(c.team.stride) * slot;
  }
  GGAS_DEVICE void at(uint64_t seq) {
    const uint64_t turn =
        uint64_t{static_cast<uint32_t>(seq % layout::channel_depth)} * static_cast<uint32_t>(own_layout().turn_bytes());
    out += turn;
    in += turn;
  }
  GGAS_DEVICE channel_line* to(int rank) const {
    return reinterpret_cast<channel_line*>(out + static_cast<uint32_t>(rank) * out_step);
  }
  GGAS_DEVICE const channel_line* from(int rank) const {
    return reinterpret_cast<const channel_line*>(in + uint64_t{static_cast<uint32_t>(rank) * in_step});
  }
};

// The first line goes to every member, so that every member receives from every member.
template <class T>
GGAS_DEVICE bool line_goes_to(const piece<T>& p, unsigned line, int rank) {
  return line == 0 || p.goes_to(rank);
}

// Calls f(rank) for up to Most members, the first half separately. So a team of at most 4 of 8 members executes no
// instructions for the others.
template <int Most, class F>
GGAS_DEVICE void for_each_rank(const channel& c, F f) {
  constexpr int half = Most / 2;
  GGAS_UNROLL
  for (int k = 0; k < half; ++k) f(k);
  if (c.team.size <= half) return;
  GGAS_UNROLL
  for (int k = half; k < Most; ++k) f(k);
}

// The lines of all other members, if `wanted`. False: time is up, or the node's collectives are broken.
template <int Most>
GGAS_DEVICE bool take_from_all(const channel& c, const line_places& places, bool wanted, channel_line (&l)[Most],
                               poll_deadline& end) {
  const auto number = static_cast<uint32_t>(c.seq);
  for (;;) {
    for_each_rank<Most>(c, [&](int k) {
      if (wanted && k < c.team.size && k != c.rank) l[k] = load_spin(places.from(k));
    });
    uint32_t different = 0;
    for_each_rank<Most>(c, [&](int k) { different |= (l[k].low_tag ^ number) | (l[k].high_tag ^ number); });
    if (different == 0) return true;
    if (c.broken != 0 || end.over()) return false;
  }
}

// Line i of every member, this member's is `own`; the result, if it goes to this member, is stored.
template <int Most, class T>
GGAS_DEVICE ggas_status exchange_short_line(channel& c, const piece<T>& p, const line_places& places, unsigned i,
                                            uint64_t own, poll_deadline& end) {
  const channel_line mine = line_of(c.seq, own);
  for_each_rank<Most>(c, [&](int hop) {
    const int to = member_behind(c, hop);
    if (hop > 0 && hop < c.team.size && line_goes_to(p, i, to)) store_relaxed(places.to(to), mine);
  });
  look_for_failure(c);
  channel_line l[Most];
  for_each_rank<Most>(c, [&](int k) { l[k] = mine; });  // stays that of this member, and of those that do not exist
  const bool target = p.goes_to(c.rank);
  if (!take_from_all(c, places, i == 0 || target, l, end))
    return no_line(c, places.from(0), places.in_step, c.team.size);
  if (!target) return ggas_ok;
  uint64_t sum = tagged_data(l[0]);
  with_operation<T>(p.op, [&](operation<T> combined) GGAS_INLINED {
    for_each_rank<Most>(c, [&](int k) {
      if (k > 0 && k < c.team.size) sum = combine_lines<T>(combined, sum, tagged_data(l[k]));
    });
  });
  store_elements(p.dst, i, p.n, sum);
  return ggas_ok;
}

// Whether a call is short if its largest part has `most` elements. Threads of another member may decide differently:
// the lines sent are the same.
template <int Most, class T>
GGAS_DEVICE bool fits_threads(const ggas_team& team, size_t most) {
  const size_t lines = lines_of<T>(most);
  return lines <= channel::lines() && lines <= thread_count() && team.size <= Most;
}

// False: a rare case, in which nothing was sent. (Warps without a line could skip the channel's word. Then the end
// would need one block barrier instead of two: 0.03 us less for one warp of lines, but 0.1 us more for several.)
template <int Most, class T>
GGAS_DEVICE ggas_status one_shot_short(const ggas_team& team, unsigned block, const piece<T>& p, uint64_t timeout_ns,
                                       bool& done) {
  channel c = find_channel(team, block);
  const unsigned i = thread_rank();
  const uint64_t own = load_elements(p.src, i, p.n);  // on its way next to the channel's word
  line_places places(c, i);
  done = !c.failed && !slot_is_due(c.seq);
  if (!done) return ggas_ok;
  ggas_status mine = ggas_ok;
  if (i < lines_of<T>(p.n)) {
    poll_deadline end(timeout_ns);
    places.at(c.seq);
    mine = exchange_short_line<Most>(c, p, places, i, own, end);
  }
  return close_channel(c, mine);
}

}  // namespace ggas::detail
