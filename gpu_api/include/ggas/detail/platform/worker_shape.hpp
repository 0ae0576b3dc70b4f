// SPDX-License-Identifier: Apache-2.0
// What the workers of a node and those who give them orders share: docs/work.md. Host and device.
#pragma once

#include "ggas/detail/platform/ring_shape.hpp"

namespace ggas {

// An order to workers, as the words of a record: this struct, then the copies before and after the function
// (work_copy), then the arguments of the function. Each part begins at a word.
struct work_order {
  uint64_t done;    // gets ticket << 8 | status: an address of the workers' node, or an offset in the segment of `node`
  uint64_t ticket;  // of 56 bits
  uint32_t function;  // in the workers' table
  int32_t node;       // -1: `done` is an address
  uint32_t x, y, z;   // virtual blocks
  uint16_t in, out;   // copies
  static constexpr uint64_t words = 5;
  // In the status that the host gets, next to a failure: blocks of the group have not ended; without it, they have.
  static constexpr uint64_t late = 0x80;
};
static_assert(sizeof(work_order) == 8 * work_order::words);

struct work_copy {
  uint64_t to, from, bytes;
  static constexpr uint64_t words = 3;
};

// State of a node's workers: at the same offset of every segment, all zero at first. A value, the same on all nodes.
struct worker_shape {
  uint64_t at;
  uint32_t nodes, groups;

  static constexpr uint32_t lines_log2 = 9;  // of a ring
  static constexpr uint64_t most_words = ring_shape{0, 0, lines_log2}.largest_record() / 8;
  static constexpr uint64_t line = 64;

  // Orders of kernels.
  GGAS_LAYOUT_FN ring_shape ring() const { return {at, nodes, lines_log2}; }
  // Which group looks at the rings (worker_turn), lines of the host's ring that were taken, whose order was the last.
  GGAS_LAYOUT_FN uint64_t turn() const { return at + ring().bytes(); }
  GGAS_LAYOUT_FN uint64_t taken_of_host() const { return turn() + 8; }
  GGAS_LAYOUT_FN uint64_t last_source() const { return turn() + 16; }
  // State of a group: the number of orders that it was given; the number of blocks that have come to all of its
  // barriers; the first failure of its order; the word of its ggas::blocks; the order.
  GGAS_LAYOUT_FN uint64_t published(uint32_t g) const { return group(g); }
  GGAS_LAYOUT_FN uint64_t arrived(uint32_t g) const { return group(g) + 8; }
  GGAS_LAYOUT_FN uint64_t failure(uint32_t g) const { return group(g) + 16; }
  GGAS_LAYOUT_FN uint64_t of_blocks(uint32_t g) const { return group(g) + line; }
  GGAS_LAYOUT_FN uint64_t order(uint32_t g) const { return group(g) + 2 * line; }
  GGAS_LAYOUT_FN uint64_t bytes() const { return group(groups) - at; }

 private:
  GGAS_LAYOUT_FN uint64_t group(uint32_t g) const { return turn() + line + g * (2 * line + 8 * most_words); }
};

// Pinned memory of the node's host: its orders to the workers, as in a ring of kernels. All zero at first.
struct worker_mailbox {
  uint64_t released[4];  // by the workers: laps of each quarter that were read
  uint64_t stop;         // by the host: not 0 ends the workers, after the orders that they have taken
  uint64_t none[3];
  uint64_t lines[2 << worker_shape::lines_log2];
};

// The argument of the resident kernel.
struct worker_launch {
  worker_shape shape;
  worker_mailbox* host;
  uint32_t blocks;            // of a group
  uint32_t longest_pause_ns;  // between two looks of idle workers
  uint64_t timeout_ns;        // for which blocks of a group wait for each other
};

}  // namespace ggas

// For kernels: where orders to the workers of all nodes go. nodes = 0: there are none.
struct ggas_workers {
  ggas::ring_shape ring;
};
