// SPDX-License-Identifier: Apache-2.0
// Exchanges in lines in which a thread has one line at most, over the channel of its block alone: everything that is
// not seldom, and nothing else, as the number of instructions is what such a call costs. Rules: docs/collectives.md.
// Vectors are words of 4 bytes here. Included by exchange.cuh.
#pragma once

#include "ggas/detail/reduction.cuh"

namespace ggas::detail {

// Lines of a part, at least one, also without data.
GGAS_DEVICE unsigned lines_of_words(size_t words) { return words <= 2 ? 1 : (static_cast<unsigned>(words) + 1) / 2; }

// Of a number that is not 0.
GGAS_DEVICE unsigned log2_up(unsigned v) { return v == 1 ? 0 : 32 - static_cast<unsigned>(__builtin_clz(v - 1)); }

// Line `line` of the member `hop` places behind (`size`: of this one): what a thread does of `lines` lines for each of
// `size` members. Where there are threads enough, a warp is for one member: lines to one node leave together.
struct thread_line {
  unsigned line;
  int hop;
  bool any;
  GGAS_DEVICE thread_line(unsigned lines, int size) {
    const unsigned shift = shift_of(lines, size);
    line = thread_rank() & ((1u << shift) - 1);
    hop = static_cast<int>(thread_rank() >> shift) + 1;
    any = line < lines && hop <= size;
  }
  GGAS_DEVICE static unsigned shift_of(unsigned lines, int size) {
    const unsigned shift = log2_up(lines);
    return shift < 5 && static_cast<unsigned>(size) << 5 <= thread_count() ? 5 : shift;
  }
};
// Whether a part is short: a thread has one line at most.
GGAS_DEVICE bool is_short(size_t words, int size) {
  if (words > 2 * channel::lines()) return false;
  const unsigned lines = lines_of_words(words);
  return static_cast<unsigned>(size) << thread_line::shift_of(lines, size) <= thread_count();
}

// Sends a thread's line to its member and receives that member's, target(member) gets it; the own part is copied,
// unless in place.
template <class Source, class Target>
GGAS_DEVICE ggas_status exchange_line(const channel& c, const thread_line& mine, uint32_t words, Source source,
                                      Target target, patience& end) {
  const int member = member_behind(c, mine.hop);
  const uint32_t* const from = source(member);
  uint32_t* const to = target(member);
  uint64_t data = load_elements(from, mine.line, words);
  if (member == c.rank) {
    if (from == to) return ggas_ok;
  } else {
    send_line(c, c.outbox(member) + mine.line, data);
    if (!take_line(c, c.inbox(member) + mine.line, data, end)) return ggas_timed_out;
  }
  store_elements(to, mine.line, words, data);
  return ggas_ok;
}

// f(member) for every other member, by the last threads of the block: the first ones have lines to look after.
template <class F>
GGAS_DEVICE void for_other_ends(const channel& c, F f) {
  const int threads = static_cast<int>(thread_count());
  GGAS_NO_UNROLL
  for (int hop = threads - static_cast<int>(thread_rank()); hop < c.team.size; hop += threads) f(member_behind(c, hop));
}

// Who has nothing to say says that it is here.
GGAS_DEVICE void send_empty_lines(const channel& c) {
  for_other_ends(c, [&](int member) { send_line(c, c.outbox(member), 0); });
  refresh_slots(c, [](int) { return 1u; });
}

// For an exchange in which a member does not wait for everybody: behind it every other one is known to have been in the
// exchange two before this one, so the slot written next is free. By now that one may have written the same line again,
// two exchanges from here.
GGAS_DEVICE ggas_status hear_of_earlier(const channel& c, patience& end) {
  if (c.seq <= 2) return ggas_ok;
  const uint64_t earlier = c.seq - 2;
  bool heard = true;
  for_other_ends(c, [&](int member) {
    const auto* const line = reinterpret_cast<const uint64_t*>(c.inbox(member, earlier));
    while (heard) {
      const auto number = static_cast<uint32_t>(load_spin(line) >> 32);
      if (number == static_cast<uint32_t>(earlier) || number == static_cast<uint32_t>(c.seq + 2)) return;
      if (c.broken != 0 || end.over()) heard = false;
    }
  });
  return heard ? ggas_ok : ggas_timed_out;
}

}  // namespace ggas::detail
