// SPDX-License-Identifier: Apache-2.0
// Channels: how a block of a collective exchanges data with the same block of every other member of its team, without
// fences: data travels in lines that carry the number of the exchange. Rules: docs/collectives.md. Included by
// collective.cuh.
//
//   channel c = open_channel(team, number);
//   `poll_deadline end(timeout_ns);`
//   if (c.failed) return close_channel(c, ggas_broken);
//   send_line ...; refresh_slots ...; take_line(s) ...         exchange 1
//   if (!next_exchange(c, mine)) return close_channel(c, mine);
//   ...                                                        exchange 2
//   return close_channel(c, mine);                             ends the last one
#pragma once

#include "ggas/detail/access/tagged_line.cuh"
#include "ggas/detail/sync/barrier.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

// Tagged with the number of its exchange.
using channel_line = ggas_tagged;

// Highest bit of a channel's word: a collective failed on it.
constexpr uint64_t channel_failed = uint64_t{1} << 63;
// The next one, in the checked mode of GPUs: a block has the channel to itself (guard.cuh).
constexpr uint64_t channel_taken = uint64_t{1} << 62;

// A block's end of a channel. Every thread holds the same, but what it found in `broken`.
struct channel {
  ggas_team team;
  int rank;          // of this node in the team
  unsigned bundled;  // channels that the call uses, this one and those after it
  uint64_t seq;      // of the exchange under way, from 1
  bool failed;       // an earlier collective failed here: nothing may be sent
  uint64_t broken;   // not 0: something failed on this node. Looked at when there is nothing else to do: it comes late
  uint64_t* word;    // keeps the number of the last exchange
  uint64_t slots;    // of the nodes, in the reserved area of any node: those of turn 0

  // What the channel's word says.
  GGAS_DEVICE void begin_after(uint64_t last) {
    seq = (last & ~(channel_failed | channel_taken)) + 1;
    failed = (last & channel_failed) != 0;
  }
  // A channel of the bundle, before or in its first exchange.
  GGAS_DEVICE channel sibling(unsigned number) const {
    channel c = *this;
    if (number == 0) return c;
    c.word += number;
    c.slots += uint64_t{number * static_cast<uint32_t>(layout::channel_depth)} * turn_bytes();
    c.begin_after(load_own(c.word));
    return c;
  }
  // Lines of a slot.
  GGAS_DEVICE static unsigned lines() {
    return static_cast<unsigned>(own_layout().channel_bytes) / static_cast<unsigned>(sizeof(channel_line));
  }
  // Where this node writes for another member, and where another member has written for it, in exchange `number`.
  GGAS_DEVICE channel_line* outbox(int member) const {
    const context& c = device_context();
    const uint64_t node = static_cast<uint32_t>(ggas_team_node(team, member));
    return reinterpret_cast<channel_line*>(c.window + turn(seq) + slot(c.node) + node * c.stride);
  }
  // Where it writes for all other members of ggas_world() at once: the same place in each, which holds its lines alone.
  GGAS_DEVICE channel_line* outbox_of_others() const {
    return reinterpret_cast<channel_line*>(window_of_others() + turn(seq) + slot(device_context().node));
  }
  GGAS_DEVICE const channel_line* inbox(int member) const { return inbox(member, seq); }
  GGAS_DEVICE const channel_line* inbox(int member, uint64_t number) const {
    const uint64_t at = turn(number) + slot(ggas_team_node(team, member));
    return reinterpret_cast<const channel_line*>(device_context().local + at);
  }
  // Bytes from the inbox of a member to that of the next one.
  GGAS_DEVICE uint64_t inbox_step() const { return slot(team.stride); }

 private:
  GGAS_DEVICE static uint64_t slot(int source) {
    return uint64_t{static_cast<uint32_t>(source)} * static_cast<uint32_t>(own_layout().channel_bytes);
  }
  // Factors of 32 bits: one instruction each.
  GGAS_DEVICE static uint32_t turn_bytes() {
    return static_cast<uint32_t>(own_layout().nodes) * static_cast<uint32_t>(own_layout().channel_bytes);
  }
  GGAS_DEVICE uint64_t turn(uint64_t number) const {
    return slots + uint64_t{static_cast<uint32_t>(number % layout::channel_depth)} * turn_bytes();
  }
};

// Channels of a team that a grid of `blocks` may use.
GGAS_DEVICE unsigned usable_channels(unsigned blocks) {
  if (blocks == 1) return 1;
  const auto channels = static_cast<unsigned>(own_layout().channels);
  return blocks < channels ? blocks : channels;
}

// `number` is below usable_channels(). The call contains no block barrier, so it does not order earlier stores of the
// block. It does not check whether a collective failed on this node.
GGAS_DEVICE channel find_channel(const ggas_team& team, unsigned number) {
  channel c{};
  c.team = team;
  c.rank = ggas_team_rank(team);
  c.bundled = 1;
  c.word = own_word(own_layout().channel_seq(team.id, number));
  c.slots = own_layout().channel_slot(team.id, number, 0, 0);
  c.begin_after(load_own(c.word));
  return c;
}
// Its answer takes as long as a poll: best after the first lines that are sent, before the waits.
GGAS_DEVICE void look_for_failure(channel& c) { c.broken = load_relaxed(own_word(layout::broken)); }
GGAS_DEVICE channel open_channel(const ggas_team& team, unsigned number) {
  channel c = find_channel(team, number);
  look_for_failure(c);
  return c;
}

// Between two exchanges: all threads of the block have read the data of the first. Returns false if a thread has
// failed; then the channel must be closed.
GGAS_DEVICE bool next_exchange(channel& c, ggas_status mine) {
  const bool failed = __syncthreads_or(mine != ggas_ok) != 0;
  if (!failed) ++c.seq;
  return !failed;
}

// After the last exchange, or the one that failed: makes the status the same in all threads and records the members
// whose lines were missing. Contains a block barrier. The caller then calls leave_channel().
GGAS_DEVICE ggas_status end_exchange(const channel& c, ggas_status mine) {
  return block_status(c.failed || c.broken != 0 ? ggas_broken : mine, waited_for::lines, c.word, c.seq);
}

// A block barrier.
GGAS_DEVICE void leave_channel(const channel& c, ggas_status of_block) {
  const auto store_end = [&](const channel& at) {
    store_own(at.word, of_block == ggas_ok ? at.seq : at.seq | channel_failed);
  };
  if (c.bundled == 1) {  // short calls know it: no loop
    if (thread_rank() == 0) store_end(c);
  } else {
    for (unsigned i = thread_rank(); i < c.bundled; i += thread_count()) store_end(c.sibling(i));
  }
  if (of_block != ggas_ok && thread_rank() == 0) break_node();
  __syncthreads();
}
GGAS_DEVICE ggas_status close_channel(const channel& c, ggas_status mine) {
  const ggas_status s = end_exchange(c, mine);
  leave_channel(c, s);
  return s;
}

// A call: `run(channel, poll_deadline)`, unless a collective failed on the channel before, and its end.
template <class Run>
GGAS_DEVICE ggas_status run_on(channel& c, uint64_t timeout_ns, Run run) {
  poll_deadline end(timeout_ns);
  return close_channel(c, c.failed ? ggas_broken : run(c, end));
}

GGAS_DEVICE channel_line line_of(uint64_t seq, uint64_t data) { return tagged_line(static_cast<uint32_t>(seq), data); }
GGAS_DEVICE void send_line(const channel& c, channel_line* to, uint64_t data) {
  store_relaxed(to, line_of(c.seq, data));
}

// Called by the whole block of every member, once in every exchange for every other member, also by members that have
// no data to send. `used` lines of the member's slot are sent by the exchange; from time to time this writes the rest
// of the slot, so that no line becomes so old that its number is used again (docs/collectives.md).
GGAS_DEVICE bool slot_is_due(uint64_t seq) {
  constexpr uint64_t period = uint64_t{1} << 30, exchanges = 64;
  return seq % period < exchanges && seq >= exchanges;
}
GGAS_DEVICE void refresh_slot(const channel& c, int member, unsigned used) {
  for (unsigned i = used + thread_rank(); i < channel::lines(); i += thread_count())
    send_line(c, c.outbox(member) + i, 0);
}
template <class Used>
GGAS_DEVICE void refresh_slots(const channel& c, Used used) {
  if (!slot_is_due(c.seq)) return;
  GGAS_NO_UNROLL
  for (int to = 0; to < c.team.size; ++to) {
    if (to != c.rank) refresh_slot(c, to, used(to));
  }
}

GGAS_DEVICE bool line_here(const channel& c, const channel_line& l) { return has_tag(l, static_cast<uint32_t>(c.seq)); }

// For an exchange in which lines are missing. Looks at `count` lines `step` bytes apart, and returns the status of a
// wait for the node of the first missing line. This node's own slots have none.
GGAS_DEVICE_FUNCTION ggas_status no_line(uint64_t line, uint64_t step, int count, unsigned team, uint32_t exchange) {
  const layout& l = own_layout();
  const auto slots = reinterpret_cast<uint64_t>(own_word(l.channel_slot(team, 0, 0, 0)));
  const auto is_here = [&](uint64_t at) {
    return has_tag(load_relaxed(reinterpret_cast<channel_line*>(at)), exchange);
  };
  ggas_status first = ggas_timed_out;
  bool alike = step != 0;
  GGAS_NO_UNROLL
  for (; count > 0; --count, line += step) {
    constexpr uint64_t unit = layout::smallest_channel;  // so that 32 bits suffice
    const uint32_t slot = static_cast<uint32_t>((line - slots) / unit) / static_cast<uint32_t>(l.channel_bytes / unit);
    const int node = static_cast<int>(slot % static_cast<uint32_t>(l.nodes));
    if (node == ggas_node()) continue;
    const unsigned sent = is_here(slots + slot * l.channel_bytes) ? wait_record::has_sent : 0;
    alike = alike && !is_here(line) && (first == ggas_timed_out || sent == ((first >> awaited_from) & 1));
    if (!is_here(line) && first == ggas_timed_out) first = timed_out_for(node, sent);
  }
  return alike ? static_cast<ggas_status>(first | wait_record::like_all << awaited_from) : first;
}
GGAS_DEVICE ggas_status no_line(const channel& c, const channel_line* line, uint64_t step = 0, int count = 1) {
  return no_line(reinterpret_cast<uint64_t>(line), step, count, c.team.id, static_cast<uint32_t>(c.seq));
}
// The status if line i of some members is missing.
GGAS_DEVICE ggas_status no_lines(const channel& c, unsigned i) {
  return no_line(c, c.inbox(0) + i, c.inbox_step(), c.team.size);
}

// Waits for a line. Returns false if it timed out, or if the node's collectives are broken; no_line() then gives the
// status. (The status is not computed here, because the compiler would add a test of it where the paths join. The test
// costs 30 ns.)
GGAS_DEVICE bool take_line(const channel& c, const channel_line* from, uint64_t& data, poll_deadline& end) {
  for (;;) {
    const channel_line l = load_spin(from);
    data = tagged_data(l);
    if (line_here(c, l)) return true;
    if (c.broken != 0 || end.over()) return false;
  }
}
// For a line that has arrived: accesses that its sender ordered before it by a fence become visible to this thread.
GGAS_DEVICE void acquire_line(const channel_line* l) { acquire_after_spin(reinterpret_cast<const uint64_t*>(l)); }

// Members whose lines are polled at once.
constexpr int members_at_once = 8;

// Waits for line i of the members first, first + 1 ... whose bit is set in `wanted`, all polled at once; as take_line.
GGAS_DEVICE bool take_lines(const channel& c, unsigned i, int first, unsigned wanted, uint64_t (&data)[members_at_once],
                            poll_deadline& end) {
  for (;;) {
    channel_line l[members_at_once]{};
    GGAS_UNROLL
    for (int k = 0; k < members_at_once; ++k) {
      if (wanted >> k & 1) l[k] = load_spin(c.inbox(first + k) + i);
    }
    bool all = true;
    GGAS_UNROLL
    for (int k = 0; k < members_at_once; ++k) {
      if (wanted >> k & 1) {
        all = all && line_here(c, l[k]);
        data[k] = tagged_data(l[k]);
      }
    }
    if (all) return true;
    if (c.broken != 0 || end.over()) return false;
  }
}

}  // namespace ggas::detail

// A block that has arrived at a barrier and has not yet waited; every thread has its own.
struct ggas_arrival {
  ggas::detail::channel at;
  ggas_status left;  // how arriving went
  bool refused;
};
