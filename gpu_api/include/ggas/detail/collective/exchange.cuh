// SPDX-License-Identifier: Apache-2.0
// Shared by broadcast, allgather and alltoall: data in lines, addresses of destinations, data stored directly into
// them. Vectors are units of 1, 2 or 4 bytes here. Rules: docs/collectives.md. Included by collective.cuh.
#pragma once

#include "ggas/detail/access/move.cuh"
#include "ggas/detail/collective/lines.cuh"

namespace ggas::detail {

// ------------------------------------------------------------------------------------------------ in lines

constexpr unsigned most_bundled = 16;  // channels of an exchange

// Distribution of the lines of a part to channels and threads. One exchange moves the data that fit the slot of the
// block's channel; a single block uses as many channels of the team as it needs. Every rule applies to each channel, so
// every member sends to every other one on each. A row of lines is for the lanes of a warp: each lane handles
// lines_at_once of them, spaced so that neighbouring lanes access adjacent lines. Powers of two, so that no thread
// divides.
constexpr unsigned lanes_log2 = 5, at_once_log2 = 2, row_log2 = lanes_log2 + at_once_log2;
constexpr unsigned lines_at_once = 1u << at_once_log2;

// Whether slots hold whole rows: else nothing is dealt out to several channels.
GGAS_DEVICE bool slots_hold_rows() { return channel::lines() >> row_log2 != 0; }

struct line_plan {
  unsigned lines, channels;
  unsigned slot_log2, rows_log2;  // lines of a channel and rows of a part, rounded up
  GGAS_DEVICE explicit line_plan(size_t of_part)
      : lines(static_cast<unsigned>(of_part)),
        channels(1),
        slot_log2(31),
        rows_log2(log2_up(((lines - 1) >> row_log2) + 1)) {
    const unsigned room = channel::lines();
    if (lines <= room) return;
    slot_log2 = log2_down(room);
    channels = ((lines - 1) >> slot_log2) + 1;
  }
  // In the slot that begins with line `first`.
  GGAS_DEVICE unsigned lines_from(unsigned first) const {
    const unsigned left = lines - first;
    return left < 1u << slot_log2 ? left : 1u << slot_log2;
  }
};
// Whether the lines of a part go in one exchange, in which `blocks` blocks of the grid take part. Lines that fit a slot
// always do. Over several channels, each of whose slots holds a row, at most `most` lines for all other members do.
// With more lines it is faster to exchange addresses of destinations.
GGAS_DEVICE bool in_lines(const ggas_team& t, size_t lines, unsigned blocks, size_t most) {
  if (lines <= channel::lines()) return true;
  if (blocks > 1 || lines > most || lines * static_cast<unsigned>(t.size - 1) > most) return false;
  return slots_hold_rows() && line_plan(lines).channels <= usable_channels(most_bundled);
}

// What a thread has of a row of a member: line `first` of the part and those after it, as far as there are any.
struct lines_of_row {
  channel at;
  int hop;
  unsigned first, in_slot, left;
  GGAS_DEVICE bool has(unsigned k) const { return k << lanes_log2 < left; }
  // How late the first line the k-th is; 0 where there is none, so that loads are without a condition.
  GGAS_DEVICE unsigned behind(unsigned k) const { return has(k) ? k << lanes_log2 : 0; }
};

// Calls f(lines_of_row) for all that a thread has of the parts of `members` members, until f fails.
template <class F>
GGAS_DEVICE ggas_status for_rows(const channel& c, const line_plan& plan, int members, F f) {
  constexpr unsigned lanes = 1u << lanes_log2;
  const unsigned threads = thread_count(), all = static_cast<unsigned>(members) << plan.rows_log2 << lanes_log2;
  GGAS_NO_UNROLL
  for (unsigned i = thread_rank(); i < all; i += threads) {
    const unsigned row = i >> lanes_log2, first = ((row & ((1u << plan.rows_log2) - 1)) << row_log2) + i % lanes;
    if (first >= plan.lines) continue;
    const lines_of_row r{c.sibling(first >> plan.slot_log2), static_cast<int>(row >> plan.rows_log2), first,
                         first & ((1u << plan.slot_log2) - 1), plan.lines - first};
    if (const ggas_status s = f(r); s != ggas_ok) return s;
  }
  return ggas_ok;
}

// Sends the lines of the parts source(hop), for hop 1 ... `parts`, to the slots outbox(channel, hop). The thread with
// the first line of a slot also refreshes the rest of the slot.
template <class Outbox, class Source>
GGAS_DEVICE void send_parts(const channel& c, const line_plan& plan, size_t units, int parts, Outbox outbox,
                            Source source) {
  const auto send = [&](const lines_of_row& r) {
    const auto* const part = source(r.hop + 1);
    channel_line* const slot = outbox(r.at, r.hop + 1);
    channel_line* const out = slot + r.in_slot;
    uint64_t data[lines_at_once];
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) data[k] = load_line(part, r.first + r.behind(k), units);
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) {
      if (r.has(k)) send_line(r.at, out + (k << lanes_log2), data[k]);
    }
    if (r.in_slot == 0) refresh_end(r.at, slot, plan.lines_from(r.first));
    return ggas_ok;
  };
  static_cast<void>(for_rows(c, plan, parts, send));
}
// Sends the lines of the parts source(member) to all other members.
template <class Source>
GGAS_DEVICE void send_lines(const channel& c, const line_plan& plan, size_t units, Source source) {
  send_parts(
      c, plan, units, c.team.size - 1, [](const channel& at, int hop) { return at.outbox(member_behind(at, hop)); },
      [&](int hop) { return source(member_behind(c, hop)); });
}

// The status of a wait for lines of one member.
GGAS_DEVICE ggas_status no_line_of_row(const lines_of_row& r, const channel_line* from) {
  ggas_status s = ggas_timed_out;
  GGAS_NO_UNROLL
  for (unsigned k = 0; k < lines_at_once && s == ggas_timed_out; ++k) s = no_line(r.at, from + r.behind(k));
  return s;
}
// Waits for the lines of a row, all polled at once, like take_line. There are no pauses between polls: pauses cost 0.05
// us if a thread has one line, and save 0.2 us if it has more (H200).
GGAS_DEVICE bool take_row(const lines_of_row& r, const channel_line* from, uint64_t (&data)[lines_at_once],
                          poll_deadline& end) {
  for (unsigned polls = end.polls();;) {
    channel_line l[lines_at_once];
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) l[k] = load_spin(from + r.behind(k));
    bool all = true;
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) {
      all &= line_here(r.at, l[k]);
      data[k] = tagged_data(l[k]);
    }
    if (all) return true;
    if (--polls != 0) continue;
    if (r.at.broken != 0 || end.look()) return false;
    polls = end.polls();
  }
}
// The units of a line at once where they are aligned: half the work of two accesses, or less.
template <class U>
GGAS_DEVICE void store_at_once(U* part, unsigned line, size_t units, uint64_t data) {
  const bool whole = (line + 1) * units_per_line<U> <= static_cast<unsigned>(units);
  if (whole && reinterpret_cast<uintptr_t>(part) % sizeof(uint64_t) == 0)
    store_own(reinterpret_cast<uint64_t*>(part) + line, data);
  else
    store_line(part, line, units, data);
}
// Lines of `members` members from the one `first_hop` places after this one on, to the parts target(member).
template <class Target>
GGAS_DEVICE ggas_status receive_lines(const channel& c, const line_plan& plan, size_t units, int first_hop, int members,
                                      Target target, poll_deadline& end) {
  const auto receive = [&](const lines_of_row& r) {
    const int member = member_behind(c, first_hop + r.hop);
    auto* const part = target(member);
    uint64_t data[lines_at_once];
    const channel_line* const from = r.at.inbox(member) + r.in_slot;
    if (!take_row(r, from, data, end)) return no_line_of_row(r, from);
    GGAS_UNROLL
    for (unsigned k = 0; k < lines_at_once; ++k) {
      if (r.has(k)) store_at_once(part, r.first + (k << lanes_log2), units, data[k]);
    }
    return ggas_ok;
  };
  return for_rows(c, plan, members, receive);
}

// ------------------------------------------------------------------------------------------------ direct stores

// Units to a destination.
template <class U>
GGAS_DEVICE void move_part(U* to, const U* from, size_t units, const movers& by) {
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % sizeof(word_pair) != 0)
    return move_bytes<origin::own>(to, from, units * sizeof(U), by);
  constexpr size_t pair = units_per_pair<U>;
  const auto* const source = reinterpret_cast<const word_pair*>(from);
  move_words<4>(reinterpret_cast<word_pair*>(to), units / pair, by, [=](uint64_t i) { return load_own(source + i); });
  for (size_t i = units / pair * pair + by.rank; i < units; i += by.count) store_relaxed(to + i, load_own(from + i));
}

template <class U>
GGAS_DEVICE void move_part(U* to, const U* from, size_t units) {
  move_part(to, from, units, {thread_rank(), thread_count()});
}

// Whether the own part of a slice is copied together with a peer's. With many blocks the links would be idle during a
// later copy (64 MiB by 128 blocks: 30 us, H200). Few blocks are limited by the stores of a multiprocessor, and are
// faster if they copy one part after the other (16 blocks of 256 threads, 16 Ki words each: 13.8 against 16.2 us);
// short copies overlap with the exchange at the end.
constexpr size_t own_bytes_together = 64 * 1024;
constexpr unsigned blocks_together = 64;
GGAS_DEVICE bool own_beside_peer(const channel& c, size_t bytes, unsigned blocks) {
  return c.team.size > 1 && blocks >= blocks_together && bytes >= own_bytes_together;
}

// Two parts of as many units by the whole block, so that stores to a peer and a copy in own memory go on side by side.
template <class U>
GGAS_DEVICE_FUNCTION void move_two_parts(U* to, const U* from, U* own_to, const U* own_from, size_t units) {
  struct both {
    word_pair peer, own;
  };
  constexpr size_t pair = units_per_pair<U>;
  const auto all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) |
                   reinterpret_cast<uintptr_t>(own_to) | reinterpret_cast<uintptr_t>(own_from);
  const size_t together = all % sizeof(word_pair) == 0 ? units / pair : 0, done = together * pair;
  const auto* const source = reinterpret_cast<const word_pair*>(from);
  const auto* const own_source = reinterpret_cast<const word_pair*>(own_from);
  auto* const target = reinterpret_cast<word_pair*>(to);
  auto* const own_target = reinterpret_cast<word_pair*>(own_to);
  move_each<4>(
      together, movers{thread_rank(), thread_count()},
      [=](uint64_t i) {
        return both{load_own(source + i), load_own(own_source + i)};
      },
      [=](uint64_t i, const both& v) {
        store_relaxed(target + i, v.peer);
        store_relaxed(own_target + i, v.own);
      });
  move_part(to + done, from + done, units - done);
  move_part(own_to + done, own_from + done, units - done);
}

// By the whole block: one line to every other member.
GGAS_DEVICE void tell_all(const channel& c, uint64_t data) {
  for (int hop = 1 + static_cast<int>(thread_rank()); hop < c.team.size; hop += static_cast<int>(thread_count()))
    send_line(c, c.outbox(member_behind(c, hop)), data);
  refresh_slots(c, [](int) { return 1u; });
}

// By the whole block: receive(member, data) of one line of every other member.
template <class Hear>
GGAS_DEVICE ggas_status hear_all(const channel& c, Hear hear, poll_deadline& end) {
  for (int hop = 1 + static_cast<int>(thread_rank()); hop < c.team.size; hop += static_cast<int>(thread_count())) {
    const int member = member_behind(c, hop);
    uint64_t data;
    if (!take_line(c, c.inbox(member), data, end)) return no_line(c, c.inbox(member));
    hear(member, data);
  }
  return ggas_ok;
}

// Called by a thread after a block barrier: earlier stores of the block reach their target before later ones of this
// thread. If the window is a NIC's, stores to one node keep their order after a fence, and data and line take the same
// path.
GGAS_DEVICE void release_stores() { fence_acq_rel_system(); }

// Waits for a line of a member; what it stored before its release_stores() is here then.
GGAS_DEVICE ggas_status await_stores(const channel& c, int member, poll_deadline& end) {
  uint64_t data;
  if (!take_line(c, c.inbox(member), data, end)) return no_line(c, c.inbox(member));
  acquire_line(c.inbox(member));
  return ggas_ok;
}

// The last exchange of a collective that stored into destinations: every member reports to every member that its data
// have arrived; meanwhile the block does `meanwhile`. A block barrier must be between the stores and this call.
template <class Meanwhile>
GGAS_DEVICE ggas_status finish_stores(const channel& c, Meanwhile meanwhile, poll_deadline& end) {
  if (static_cast<int>(thread_rank()) + 1 < c.team.size) release_stores();
  tell_all(c, 0);
  meanwhile();
  return hear_all(
      c, [&](int member, uint64_t) { acquire_line(c.inbox(member)); }, end);
}

// A copy of units for which no thread waits, made during an exchange. The warps that do not report make it: the others
// need a fence or a check of lines, and with a share of the copy they would take longer than the exchange. If only few
// warps do not report, all warps copy.
template <class U>
GGAS_DEVICE void copy_beside(const channel& c, U* to, const U* from, size_t units) {
  const unsigned rank = thread_rank(), threads = thread_count();
  const unsigned telling = (static_cast<unsigned>(c.team.size) + 30) / 32 * 32;
  const unsigned skipped = 2 * telling <= threads ? telling : 0;
  if (to != from && units != 0 && rank >= skipped) move_part(to, from, units, {rank - skipped, threads - skipped});
}

// The addresses of the other members' destinations: each member reports its own in the first line of exchange `c`, as
// bytes from the start of its segment. The whole block then calls store(member, destination) for each member for which
// `wanted` is true. The order differs from member to member.
template <class U, class Wanted, class Store>
GGAS_DEVICE ggas_status store_to_others(const channel& c, Wanted wanted, Store store, poll_deadline& end) {
  constexpr int at_once = 8;
  GGAS_SHARED_ARRAY(uint64_t, places, at_once);
  const int rank = static_cast<int>(thread_rank()), threads = static_cast<int>(thread_count());
  for (int first = 1; first < c.team.size; first += at_once) {
    const int last = first + at_once < c.team.size ? first + at_once : c.team.size;
    ggas_status s = ggas_ok;
    for (int hop = first + rank; hop < last && s == ggas_ok; hop += threads) {
      const channel_line* const line = c.inbox(member_behind(c, hop));
      if (!take_line(c, line, places[hop - first], end)) s = no_line(c, line);
      acquire_line(line);  // what the block stores then comes after what the member did before it reported
    }
    if (__syncthreads_or(s != ggas_ok)) return failed_somewhere(s);
    for (int hop = first; hop < last; ++hop) {
      const int member = member_behind(c, hop);
      const uint64_t place = places[hop - first];
      if (wanted(member)) store(member, ggas_pointer_of_node<U>(ggas_team_node(c.team, member), place));
    }
    if (last < c.team.size) __syncthreads();
  }
  return ggas_ok;
}

// Units [begin, end) of a vector that a block of a grid works on, cut at multiples of 16 bytes.
struct slice {
  size_t begin, end;
  GGAS_DEVICE size_t units() const { return end - begin; }
};
template <class U>
GGAS_DEVICE slice slice_of(size_t units, unsigned part, unsigned parts) {
  constexpr size_t pair = units_per_pair<U>;
  if (parts == 1) return {0, units};
  const size_t pairs = (units + pair - 1) / pair;
  const size_t begin = pairs * part / parts * pair, end = pairs * (part + 1) / parts * pair;
  return {begin, end < units ? end : units};
}

// The part of the own segment that may be a destination. What lies before the segment is far after it.
GGAS_DEVICE bool own_place(const void* p, size_t bytes, uint64_t& offset) {
  offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(device_context().local);
  return fits_segment(offset, bytes);
}

template <class T>
GGAS_DEVICE bool elements_good(const T* p) {
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "elements have 1, 2, 4, 8 or 16 bytes");
  static_assert(__is_trivially_copyable(T), "collectives move plain data");
  return (p != nullptr) & (reinterpret_cast<uintptr_t>(p) % sizeof(T) == 0);
}

// What a collective does on the channel of the calling block: its slice of the units of a part.
template <class U>
struct channel_call {
  unsigned block, blocks;  // of the blocks that have a channel
  slice mine;
  // Blocks without units to move, or without a channel, have nothing to do.
  GGAS_DEVICE channel_call(unsigned number, unsigned all, size_t units)
      : block(number), blocks(usable_channels(all)), mine{0, 0} {
    if (block < blocks) mine = slice_of<U>(units, block, blocks);
  }
  GGAS_DEVICE size_t lines() const { return (mine.units() + units_per_line<U> - 1) / units_per_line<U>; }
  GGAS_DEVICE size_t bytes() const { return mine.units() * sizeof(U); }
};

}  // namespace ggas::detail
