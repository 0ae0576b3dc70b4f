// SPDX-License-Identifier: Apache-2.0
// The reserved area at the start of every segment: barrier flags, collective slots, channels, results of atomics. Host
// (to size it) and device (to find things) compute the same offsets from the number of nodes and the bytes reserved.
// Every word has one writer; words written by different nodes never share one.
#pragma once

#include "ggas/detail/platform/call.hpp"
#include "ggas/detail/platform/integers.hpp"
#include "ggas/detail/platform/ring_shape.hpp"

namespace ggas {

struct layout {
  uint64_t nodes;
  uint64_t slot_bytes;     // one node's part of a collective's chunk
  uint64_t channels;       // of each team
  uint64_t channel_bytes;  // a slot of a channel

  static constexpr uint64_t word = 8;           // flags are 64 bit and only grow
  static constexpr uint64_t max_blocks = 1024;  // of a grid in ggas_barrier_grid
  static constexpr uint64_t slot_unit = 256;
  static constexpr uint64_t largest_slot = 16 * 1024;
  static constexpr uint64_t line = 64;
  static constexpr uint64_t teams = 4;          // ids 0 (all nodes) ... 3; others are placed
  static constexpr uint64_t channel_depth = 4;  // slots in turn: why so many, docs/collectives.md
  static constexpr uint64_t most_channels = 128, smallest_channel = 64, largest_channel = 4096;

  // Words the node keeps for itself.
  static constexpr uint64_t aborted = 8;        // the host's: not 0 ends all waits
  static constexpr uint64_t grid_release = 16;  // attempt << 8 | status, for the blocks of the grid; read with the next
  static constexpr uint64_t broken = 24;        // not 0: a barrier or collective failed on this node
  static constexpr uint64_t gather_all_seq = 32;
  static constexpr uint64_t queues_used = 40;  // not 0 once a queue of the NIC was used
  static constexpr uint64_t blocks_met = 48;   // of a grid that meets with no other node (barrier_grid.cuh)
  static constexpr uint64_t messages = 56;     // the host's: where MPI_Init() finds its ggas_messages (mpi.cuh)
  // Barriers completed, and a copy of `broken` for each team that is not placed: one load brings both.
  static GGAS_LAYOUT_FN uint64_t barrier_epoch(uint64_t team) {
    return is_placed(team) ? place(team) : line + team * 2 * word;
  }
  static GGAS_LAYOUT_FN uint64_t barrier_broken(uint64_t team) { return barrier_epoch(team) + word; }
  // Words a master writes.
  static constexpr uint64_t result_flag = 2 * line;
  static GGAS_LAYOUT_FN uint64_t check_out(uint64_t team) {
    return is_placed(team) ? place(team) + line : (3 + team) * line;
  }
  static constexpr uint64_t arrays = (3 + teams) * line;

  // Arrays with a word for each node.
  GGAS_LAYOUT_FN uint64_t gather_all_flag(uint64_t n) const { return row(0) + n * word; }  // by n: its slot is filled
  GGAS_LAYOUT_FN uint64_t gather_flag(uint64_t n) const { return row(1) + n * word; }      // on the root, by n
  GGAS_LAYOUT_FN uint64_t gather_ack(uint64_t n) const { return row(2) + n * word; }   // by root n: slot may be reused
  GGAS_LAYOUT_FN uint64_t gather_seq(uint64_t n) const { return row(3) + n * word; }   // own: chunks sent to root n
  GGAS_LAYOUT_FN uint64_t gather_done(uint64_t n) const { return row(4) + n * word; }  // own: chunks n has answered
  GGAS_LAYOUT_FN uint64_t check_in(uint64_t team, uint64_t n) const {                  // by n
    return (is_placed(team) ? place(team) + 2 * line : row(5 + team)) + n * word;
  }
  // Own: blocks at the barrier, exchanges of a channel completed.
  GGAS_LAYOUT_FN uint64_t arrived(uint64_t block) const { return row(rows) + block * word; }
  GGAS_LAYOUT_FN uint64_t channel_seq(uint64_t team, uint64_t channel) const {
    return (is_placed(team) ? placed_channels(team) : arrived(max_blocks) + team * most_channels * word) +
           channel * word;
  }

  // Teams beyond the first four (ggas/teams.hpp) have all their state in one place of the segments, after the reserved
  // area: their id is the offset in units of team_unit.
  static constexpr uint64_t team_unit = 256;
  static GGAS_LAYOUT_FN bool is_placed(uint64_t team) { return team >= teams; }
  static GGAS_LAYOUT_FN uint64_t place(uint64_t team) { return team * team_unit; }
  GGAS_LAYOUT_FN uint64_t placed_bytes() const { return placed_slots(0) + channels * channel_depth * turn_bytes(); }

  // Records of 16 bytes for results of atomics. They form a pool, with a bit "taken" and a bit "abandoned" for each.
  // Each queue that is used exclusively has a further record.
  static constexpr uint64_t results = 256, most_queues = 128;
  GGAS_LAYOUT_FN uint64_t results_taken(uint64_t group) const { return rma() + group * word; }  // 64 a group
  GGAS_LAYOUT_FN uint64_t results_left(uint64_t group) const { return rma() + (results / 64 + group) * word; }
  GGAS_LAYOUT_FN uint64_t result(uint64_t i) const { return rma() + line + i * 16; }
  GGAS_LAYOUT_FN uint64_t exclusive_result(uint64_t queue) const { return result(results + queue); }

  // Queues of nodes without NIC: rings of notifications (docs/ring.md), with two lines for each record, at the end of
  // the reserved area. Up to 16 nodes have all records; beyond that the number halves each time the nodes double, down
  // to 8.
  static constexpr uint64_t direct_queues = 4, direct_records = 64;
  static GGAS_LAYOUT_FN ring_shape direct_ring(uint64_t nodes, uint64_t reserved, uint64_t queue) {
    const uint32_t log2 = nodes <= 16 ? 7 : nodes <= 32 ? 6 : nodes <= 64 ? 5 : 4;
    const ring_shape one{0, static_cast<uint32_t>(nodes), log2};
    return {reserved - (direct_queues - queue) * one.bytes(), one.nodes, log2};
  }

  // Waits of this node's kernels that failed (call.hpp): how many, and a ring of the last ones.
  static constexpr uint64_t wait_records = 64, wait_bytes = word + wait_records * sizeof(wait_record);
  GGAS_LAYOUT_FN uint64_t failed_waits() const { return rma() + rma_bytes(); }
  GGAS_LAYOUT_FN uint64_t wait_record_at(uint64_t i) const { return failed_waits() + word + i * sizeof(wait_record); }

  // Slots. Two of each kind in turn: a chunk may arrive while the one before is still read.
  GGAS_LAYOUT_FN uint64_t gather_all_slot(uint64_t n, uint64_t seq) const { return slot((seq & 1) * nodes + n); }
  GGAS_LAYOUT_FN uint64_t gather_slot(uint64_t n, uint64_t seq) const { return slot((2 + (seq & 1)) * nodes + n); }
  GGAS_LAYOUT_FN uint64_t result_slot() const { return slot(4 * nodes); }
  // Where node `source` writes its part of exchange `seq` of a channel.
  GGAS_LAYOUT_FN uint64_t channel_slot(uint64_t team, uint64_t channel, uint64_t seq, uint64_t source) const {
    const uint64_t turn = channel * channel_depth + seq % channel_depth;
    const uint64_t first =
        is_placed(team) ? placed_slots(team) : slot(slots(nodes)) + team * channels * channel_depth * turn_bytes();
    return first + turn * turn_bytes() + source * channel_bytes;
  }
  GGAS_LAYOUT_FN uint64_t turn_bytes() const { return nodes * channel_bytes; }  // from one exchange to the next

  // The layout of a reserved area. Half of what is not fixed goes to the slots, the rest to the channels.
  static GGAS_LAYOUT_FN layout of(uint64_t nodes, uint64_t reserved) {
    const uint64_t free = reserved < both_ends(nodes) ? 0 : reserved - both_ends(nodes);
    const uint64_t slot = least(free / 2 / slots(nodes) / slot_unit * slot_unit, largest_slot);
    const uint64_t left = (free - slot * slots(nodes)) / channel_slots(nodes);  // for one slot of every channel
    const uint64_t bytes =
        least(most(left / 16 / smallest_channel * smallest_channel, smallest_channel), largest_channel);
    return {nodes, slot, least(left / bytes, most_channels), bytes};
  }
  // Bytes to reserve in a segment: a quarter of it, but at least the needed and at most the useful size; a multiple of
  // 4 KB.
  static GGAS_LAYOUT_FN uint64_t reserved_bytes(uint64_t nodes, uint64_t segment_bytes) {
    return least(most(segment_bytes / 4 / 4096 * 4096, smallest_reserved(nodes)), largest_reserved(nodes));
  }
  static GGAS_LAYOUT_FN uint64_t largest_reserved(uint64_t nodes) {
    return round_up(
        both_ends(nodes) + slots(nodes) * largest_slot + channel_slots(nodes) * most_channels * largest_channel, 4096);
  }
  // A segment must hold the reserved area and some room for the user.
  static GGAS_LAYOUT_FN uint64_t smallest_reserved(uint64_t nodes) {
    return round_up(both_ends(nodes) + 2 * most(slots(nodes) * slot_unit, channel_slots(nodes) * smallest_channel),
                    4096);
  }
  static GGAS_LAYOUT_FN uint64_t smallest_segment(uint64_t nodes) { return smallest_reserved(nodes) + 4096; }

 private:
  static constexpr uint64_t rows = 5 + teams;
  static GGAS_LAYOUT_FN uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
  static GGAS_LAYOUT_FN uint64_t most(uint64_t a, uint64_t b) { return a < b ? b : a; }
  static GGAS_LAYOUT_FN uint64_t round_up(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }
  static GGAS_LAYOUT_FN uint64_t slots(uint64_t nodes) { return 4 * nodes + 1; }
  static GGAS_LAYOUT_FN uint64_t channel_slots(uint64_t nodes) { return teams * channel_depth * nodes; }  // of one each
  static GGAS_LAYOUT_FN uint64_t fixed_bytes(uint64_t nodes) {
    return arrays + rows * round_up(nodes * word, line) + (max_blocks + teams * most_channels) * word + rma_bytes() +
           round_up(wait_bytes, line);
  }
  static GGAS_LAYOUT_FN uint64_t rma_bytes() { return line + (results + most_queues) * 16; }
  static GGAS_LAYOUT_FN uint64_t direct_bytes(uint64_t nodes) {
    return direct_queues * direct_ring(nodes, 0, 0).bytes();
  }
  // What does not depend on the bytes reserved: at the start and at the end.
  static GGAS_LAYOUT_FN uint64_t both_ends(uint64_t nodes) { return fixed_bytes(nodes) + direct_bytes(nodes); }
  GGAS_LAYOUT_FN uint64_t placed_channels(uint64_t team) const {
    return place(team) + 2 * line + round_up(nodes * word, line);
  }
  GGAS_LAYOUT_FN uint64_t placed_slots(uint64_t team) const { return placed_channels(team) + most_channels * word; }
  GGAS_LAYOUT_FN uint64_t rma() const { return arrived(max_blocks) + teams * most_channels * word; }
  GGAS_LAYOUT_FN uint64_t row(uint64_t i) const { return arrays + i * round_up(nodes * word, line); }
  GGAS_LAYOUT_FN uint64_t slot(uint64_t i) const { return fixed_bytes(nodes) + i * slot_bytes; }
};

}  // namespace ggas
