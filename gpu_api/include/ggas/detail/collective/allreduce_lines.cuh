// SPDX-License-Identifier: Apache-2.0
// reduce and allreduce in lines: a thread sends a line to every member and polls the same line of every member, so no
// barrier is needed in between. Included by collective.cuh.
#pragma once

#include "ggas/detail/collective/reduction.cuh"

namespace ggas::detail {

// Line i of every member, combined in the order of ranks; `own` is this member's.
template <class T>
GGAS_DEVICE ggas_status combine_line(const channel& c, unsigned i, uint64_t own, ggas_op op, uint64_t& sum,
                                     poll_deadline& end) {
  GGAS_NO_UNROLL
  for (int first = 0; first < c.team.size; first += members_at_once) {
    const int count = c.team.size - first < members_at_once ? c.team.size - first : members_at_once;
    const int me = c.rank - first;
    unsigned wanted = (1u << count) - 1;
    if (me >= 0 && me < count) wanted &= ~(1u << me);
    uint64_t data[members_at_once]{};
    if (!take_lines(c, i, first, wanted, data, end)) return no_lines(c, i);
    with_operation<T>(op, [&](operation<T> combined) GGAS_INLINED {
      GGAS_UNROLL
      for (int k = 0; k < members_at_once; ++k) {
        if (k < count) {
          const uint64_t v = k == me ? own : data[k];
          sum = first + k == 0 ? v : combine_lines<T>(combined, sum, v);
        }
      }
    });
  }
  return ggas_ok;
}

// One exchange sends at most all lines of a slot, to each member its part. A member that is not the root gets one line,
// so that every member receives from every member.
template <class T>
GGAS_DEVICE ggas_status one_shot_exchange(const channel& c, const piece<T>& p, poll_deadline& end) {
  const auto lines = static_cast<unsigned>(lines_of<T>(p.n));
  const unsigned me = thread_rank(), threads = thread_count();
  GGAS_NO_UNROLL
  for (unsigned i = me; i < lines; i += threads) {
    const uint64_t same = p.step == 0 ? load_elements(p.src, i, p.n) : 0;
    GGAS_NO_UNROLL
    for (int hop = 1; hop < c.team.size; ++hop) {
      const int to = member_behind(c, hop);
      const uint64_t data = p.step == 0 ? same : load_elements(p.source(to), i, p.n);
      if (i == 0 || p.goes_to(to)) send_line(c, c.outbox(to) + i, data);
    }
  }
  refresh_slots(c, [&](int to) { return p.goes_to(to) ? lines : 1; });
  const bool mine = p.goes_to(c.rank);
  GGAS_NO_UNROLL
  for (unsigned i = me; i < (mine ? lines : 1); i += threads) {
    uint64_t sum = 0;
    const ggas_status s = combine_line<T>(c, i, load_elements(p.source(c.rank), i, p.n), p.op, sum, end);
    if (s != ggas_ok) return s;
    if (mine) store_elements(p.dst, i, p.n, sum);
  }
  return ggas_ok;
}

// Chunks of a slot of lines: exchange(chunk) for each.
template <class T, class Exchange>
GGAS_DEVICE ggas_status by_slots(channel& c, const piece<T>& p, Exchange exchange) {
  const size_t most = channel::lines() * elements<T>::count;
  for (size_t done = 0;;) {
    const size_t n = p.n - done < most ? p.n - done : most;
    const ggas_status mine = exchange(p.part(done, n));
    done += n;
    if (done == p.n || !next_exchange(c, mine)) return mine;
  }
}

template <class T>
GGAS_DEVICE ggas_status one_shot(channel& c, const piece<T>& p, poll_deadline& end) {
  return by_slots(c, p, [&](const piece<T>& chunk) { return one_shot_exchange(c, chunk, end); });
}

// How the lines of a chunk are dealt out to the members that reduce them.
struct line_parts {
  unsigned lines, each;
  GGAS_DEVICE unsigned of(int member) const {  // at least one, so that every member receives from every member
    const unsigned before = static_cast<unsigned>(member) * each;
    const unsigned here = before < lines ? lines - before : 0;
    return here == 0 ? 1 : here < each ? here : each;
  }
  GGAS_DEVICE unsigned line(int member, unsigned i) const { return static_cast<unsigned>(member) * each + i; }
};

// Line i of the part of every other member, dealt out to the threads: f(member, i).
template <class F>
GGAS_DEVICE void for_other_parts(const channel& c, const line_parts& parts, F f) {
  const unsigned all = static_cast<unsigned>(c.team.size - 1) * parts.each;
  GGAS_NO_UNROLL
  for (unsigned k = thread_rank(); k < all; k += thread_count()) {
    const int member = member_behind(c, static_cast<int>(k / parts.each) + 1);
    const unsigned i = k % parts.each;
    if (i < parts.of(member)) f(member, i);
  }
}

// First of the two exchanges: to every member its part.
template <class T>
GGAS_DEVICE void scatter_parts(const channel& c, const piece<T>& p, const line_parts& parts) {
  for_other_parts(c, parts, [&](int to, unsigned i) {
    send_line(c, c.outbox(to) + i, load_elements(p.src, parts.line(to, i), p.n));
  });
  refresh_slots(c, [&](int to) { return parts.of(to); });
}

// Second exchange: the results of the own part go to every member. A thread sends line i when it has read every
// member's line i of the first exchange; so a member that has all lines of another member knows that the other one has
// read everything.
template <class T>
GGAS_DEVICE ggas_status cast_part(const channel& first, const channel& second, const piece<T>& p,
                                  const line_parts& parts, poll_deadline& end) {
  const unsigned mine = parts.of(first.rank);
  GGAS_NO_UNROLL
  for (unsigned i = thread_rank(); i < mine; i += thread_count()) {
    const unsigned line = parts.line(first.rank, i);
    uint64_t sum = 0;
    const ggas_status s = combine_line<T>(first, i, load_elements(p.src, line, p.n), p.op, sum, end);
    if (s != ggas_ok) return s;
    GGAS_NO_UNROLL
    for (int hop = 1; hop < second.team.size; ++hop) {
      send_line(second, second.outbox(member_behind(second, hop)) + i, sum);
    }
    store_elements(p.dst, line, p.n, sum);
  }
  refresh_slots(second, [&](int) { return mine; });
  return ggas_ok;
}

// The other members' results.
template <class T>
GGAS_DEVICE ggas_status collect_parts(const channel& c, const piece<T>& p, const line_parts& parts,
                                      poll_deadline& end) {
  ggas_status s = ggas_ok;
  for_other_parts(c, parts, [&](int from, unsigned i) {
    uint64_t data;
    if (s != ggas_ok) return;
    if (take_line(c, c.inbox(from) + i, data, end))
      store_elements(p.dst, parts.line(from, i), p.n, data);
    else
      s = no_line(c, c.inbox(from) + i);
  });
  return s;
}

// Chunks of a slot of lines for every member; two exchanges each.
template <class T>
GGAS_DEVICE ggas_status two_shot(channel& c, const piece<T>& p, poll_deadline& end) {
  const auto members = static_cast<unsigned>(c.team.size);
  const size_t most = static_cast<size_t>(channel::lines()) * members * elements<T>::count;
  for (size_t done = 0;;) {
    const size_t n = p.n - done < most ? p.n - done : most;
    const piece<T> chunk = p.part(done, n);
    const auto lines = static_cast<unsigned>(lines_of<T>(n));
    const line_parts parts{lines, (lines + members - 1) / members};
    scatter_parts(c, chunk, parts);
    const channel first = c;
    ++c.seq;
    ggas_status mine = cast_part(first, c, chunk, parts, end);
    if (mine == ggas_ok) mine = collect_parts(c, chunk, parts, end);
    done += n;
    if (done == p.n || !next_exchange(c, mine)) return mine;
  }
}

}  // namespace ggas::detail
