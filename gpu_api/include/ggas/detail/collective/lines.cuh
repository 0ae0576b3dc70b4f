// SPDX-License-Identifier: Apache-2.0
// Exchanges in lines in which a thread has one line at most, over the channel of its block. Only the frequent cases are
// here, because the cost of such a call is its number of instructions. Rules: docs/collectives.md. Vectors are units of
// 4 bytes here if elements have 4 bytes or more, else elements. Included by exchange.cuh.
#pragma once

#include "ggas/detail/collective/reduction.cuh"

namespace ggas::detail {

// What elements of type T are moved as.
template <class T>
using unit_of = either_t<sizeof(T) == 1, uint8_t, either_t<sizeof(T) == 2, uint16_t, uint32_t>>;

// Units of a line, and of 16 bytes.
template <class U>
constexpr unsigned units_per_line = 8 / sizeof(U);
template <class U>
constexpr unsigned units_per_pair = 16 / sizeof(U);

// Lines of a part that goes in lines.
template <class U>
GGAS_DEVICE unsigned lines_of_part(size_t units) {
  return (static_cast<unsigned>(units) + units_per_line<U> - 1) / units_per_line<U>;
}

// `v` is not 0.
GGAS_DEVICE unsigned log2_up(unsigned v) { return v == 1 ? 0 : 32 - static_cast<unsigned>(leading_zeros(v - 1)); }

GGAS_DEVICE unsigned log2_down(unsigned v) { return 31 - static_cast<unsigned>(leading_zeros(v)); }

// A thread's share of an exchange of `lines` lines for each of `size` members: line `line` of the member that is `hop`
// ranks after the own one (`hop` = `size`: the own one). With enough threads each warp works for one member, so that
// lines to one node leave together.
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
template <class U>
GGAS_DEVICE bool is_short(size_t units, int size) {
  if (units > size_t{units_per_line<U>} * channel::lines()) return false;
  const unsigned lines = lines_of_part<U>(units);
  return static_cast<unsigned>(size) << thread_line::shift_of(lines, size) <= thread_count();
}

// The words of a line, one access each: no alignment to consider, and no branch. `line` is a line of the part. If the
// length is odd the last word is repeated at the end; the receiver ignores it.
GGAS_DEVICE uint64_t load_line(const uint32_t* part, unsigned line, size_t units) {
  const auto words = static_cast<uint32_t>(units);
  const unsigned first = 2 * line, second = first + 1 < words ? first + 1 : first;
  const uint32_t low = load_own(part + first), high = load_own(part + second);
  return uint64_t{high} << 32 | low;
}
GGAS_DEVICE void store_line(uint32_t* part, unsigned line, size_t units, uint64_t data) {
  const auto words = static_cast<uint32_t>(units);
  store_own(part + 2 * line, static_cast<uint32_t>(data));
  if (2 * line + 1 < words) store_own(part + 2 * line + 1, static_cast<uint32_t>(data >> 32));
}
// Units of 1 and 2 bytes, which may lie anywhere.
template <class U>
GGAS_DEVICE uint64_t load_line(const U* part, unsigned line, size_t units) {
  return load_elements(part, line, units);
}
template <class U>
GGAS_DEVICE void store_line(U* part, unsigned line, size_t units, uint64_t data) {
  store_elements(part, line, units, data);
}

// Sends a thread's line to its member and receives that member's line into target(member); the own part is copied
// unless it is in place.
template <class Source, class Target>
GGAS_DEVICE ggas_status exchange_line(channel& c, const thread_line& mine, size_t units, Source source, Target target,
                                      poll_deadline& end) {
  const int member = member_behind(c, mine.hop);
  const auto* const from = source(member);
  auto* const to = target(member);
  channel_line* const out = c.outbox(member) + mine.line;
  const channel_line* const in = c.inbox(member) + mine.line;
  uint64_t data = load_line(from, mine.line, units);
  if (member != c.rank) send_line(c, out, data);
  look_for_failure(c);
  if (member != c.rank && !take_line(c, in, data, end)) return no_line(c, in);
  if (from != to) store_line(to, mine.line, units, data);
  return ggas_ok;
}

// f(channel, member) for each channel of the bundle and every other member, by the last threads of the block, because
// the first ones have lines to send.
template <class F>
GGAS_DEVICE void for_other_ends(const channel& c, F f) {
  const unsigned threads = thread_count(), shift = log2_up(c.bundled);
  const unsigned ends = static_cast<unsigned>(c.team.size - 1) << shift;
  GGAS_NO_UNROLL
  for (unsigned i = threads - 1 - thread_rank(); i < ends; i += threads) {
    const unsigned number = i & ((1u << shift) - 1);
    if (number < c.bundled) f(c.sibling(number), member_behind(c, static_cast<int>(i >> shift) + 1));
  }
}

// By a thread: now and then, the rest of a slot elsewhere, of which `used` lines were sent; see refresh_slot.
GGAS_DEVICE void refresh_end(const channel& c, channel_line* slot, unsigned used) {
  if (!slot_is_due(c.seq)) return;
  for (unsigned i = used; i < channel::lines(); ++i) send_line(c, slot + i, 0);
}

// A member without data reports only that it has arrived.
GGAS_DEVICE void send_empty_lines(const channel& c) {
  for_other_ends(c, [](const channel& at, int member) {
    send_line(at, at.outbox(member), 0);
    refresh_end(at, at.outbox(member), 1);
  });
}

// For an exchange in which a member does not wait for every member. It looks at the line of exchange seq - 2: if that
// line has come, the other member has been in exchange seq - 2, so the slot that is written next is free. The other
// member may already have overwritten the line with its line of exchange seq.
GGAS_DEVICE uint64_t look_at_earlier(const channel& at, int member) {
  return load_spin(reinterpret_cast<const uint64_t*>(at.inbox(member, at.seq - 2)));
}
GGAS_DEVICE bool is_of_earlier(uint64_t line, uint64_t seq) {
  const auto number = static_cast<uint32_t>(line >> 32);
  return seq <= 2 || number == static_cast<uint32_t>(seq - 2) || number == static_cast<uint32_t>(seq + 2);
}
GGAS_DEVICE ggas_status no_earlier_line(const channel& c) {
  const auto line = reinterpret_cast<uint64_t>(c.inbox(0, c.seq - 2));
  return no_line(line, c.inbox_step(), c.team.size, c.team.id, static_cast<uint32_t>(c.seq - 2));
}
GGAS_DEVICE ggas_status hear_of_earlier(const channel& c, poll_deadline& end) {
  bool heard = true;
  for_other_ends(c, [&](const channel& at, int member) {
    while (heard && !is_of_earlier(look_at_earlier(at, member), at.seq)) {
      if (c.broken != 0 || end.over()) heard = false;
    }
  });
  return heard ? ggas_ok : no_earlier_line(c);
}

// The same, with a first look that is under way while the exchange is.
class early_look {
 public:
  GGAS_DEVICE explicit early_look(const channel& c) {
    const unsigned i = thread_count() - 1 - thread_rank(), shift = log2_up(c.bundled);
    const unsigned number = i & ((1u << shift) - 1), hop = (i >> shift) + 1;
    suffices_ = static_cast<unsigned>(c.team.size - 1) << shift <= thread_count();
    if (number >= c.bundled || hop >= static_cast<unsigned>(c.team.size)) return;
    const channel at = c.sibling(number);
    seq_ = at.seq;
    found_ = look_at_earlier(at, member_behind(c, static_cast<int>(hop)));
  }
  GGAS_DEVICE ggas_status hear(const channel& c, poll_deadline& end) const {
    return suffices_ && is_of_earlier(found_, seq_) ? ggas_ok : hear_of_earlier(c, end);
  }

 private:
  bool suffices_;  // a thread has one line to look at, or none
  uint64_t seq_ = 0, found_ = 0;
};

}  // namespace ggas::detail
