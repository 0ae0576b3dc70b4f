// SPDX-License-Identifier: Apache-2.0
// Channels: how a block of a collective exchanges data with the same block of every other member of its team, without
// fences: data travels in lines that carry the number of the exchange. Rules: docs/collectives.md. Included by
// collective.cuh.
#pragma once

#include "ggas/detail/barrier.cuh"
#include "ggas/team.cuh"

namespace ggas::detail {

// 8 bytes of data. Each half of a line is one access, so a reader that sees the number sees the data beside it.
struct alignas(16) channel_line {
  uint32_t low, low_seq, high, high_seq;
};

// A block's end of a channel. Every thread holds the same.
struct channel {
  ggas_team team;
  int rank;         // of this node in the team
  uint64_t number;  // of the channel
  uint64_t seq;     // of the exchange under way, from 1
  uint64_t lines;   // of a slot
  layout shape;

  // Where this node writes for a member, and where a member has written for it.
  GGAS_DEVICE channel_line* outbox(int member) const { return slot(ggas_team_node(team, member), rank); }
  GGAS_DEVICE const channel_line* inbox(int member) const { return slot(ggas_node(), member); }

 private:
  GGAS_DEVICE channel_line* slot(int at, int source) const {
    const auto from = static_cast<uint64_t>(ggas_team_node(team, source));
    const context& c = device_context();
    char* const segment = at == c.node ? c.local : c.window + static_cast<uint64_t>(at) * c.stride;
    return reinterpret_cast<channel_line*>(segment + shape.channel_slot(team.id, number, seq, from));
  }
};

// Channels of a team that a grid of `blocks` may use.
GGAS_DEVICE unsigned usable_channels(unsigned blocks) {
  const auto channels = static_cast<unsigned>(own_layout().channels);
  return blocks < channels ? blocks : channels;
}

// `number` is below usable_channels(). A block barrier comes before the first exchange.
GGAS_DEVICE channel open_channel(const ggas_team& team, unsigned number) {
  channel c{};
  c.team = team;
  c.rank = ggas_team_rank(team);
  c.number = number;
  c.shape = own_layout();
  c.lines = c.shape.channel_bytes / sizeof(channel_line);
  c.seq = load_relaxed(own_word(c.shape.channel_seq(team.id, number))) + 1;
  __syncthreads();
  return c;
}

// Behind an exchange: all threads of the block have read what it brought.
GGAS_DEVICE void next_exchange(channel& c) {
  __syncthreads();
  ++c.seq;
}

// The exchanges made are over, for good.
GGAS_DEVICE void close_channel(const channel& c) {
  if (thread_rank() == 0) store_relaxed(own_word(c.shape.channel_seq(c.team.id, c.number)), c.seq - 1);
  __syncthreads();
}

GGAS_DEVICE void send_line(const channel& c, channel_line* to, uint64_t data) {
  const auto seq = static_cast<uint32_t>(c.seq);
  store_relaxed(to, channel_line{static_cast<uint32_t>(data), seq, static_cast<uint32_t>(data >> 32), seq});
}

GGAS_DEVICE bool line_here(const channel& c, const channel_line& l) {
  const auto seq = static_cast<uint32_t>(c.seq);
  return l.low_seq == seq && l.high_seq == seq;
}

// Waits for a line. False: time is up.
GGAS_DEVICE bool take_line(const channel& c, const channel_line* from, uint64_t& data, const deadline& end) {
  constexpr unsigned polls_between_looks = 16;  // at the clock, which takes longer than a poll
  for (unsigned polls = 1;; ++polls) {
    const channel_line l = load_spin(from);
    data = uint64_t{l.high} << 32 | l.low;
    if (line_here(c, l)) return true;
    if (polls % polls_between_looks == 0 && end.passed()) return false;
  }
}

}  // namespace ggas::detail
