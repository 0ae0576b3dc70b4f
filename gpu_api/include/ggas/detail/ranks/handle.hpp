// SPDX-License-Identifier: Apache-2.0
// Ranks as a value for host and kernels, and where their words and slots lie. docs/ranks.md.
#pragma once

#include "ggas/detail/platform/call.hpp"
#include "ggas/detail/sync/team_handle.hpp"

// When a collective of ranks begins to touch data, and when it returns: one of each, joined by |.
enum ggas_sync_mode : unsigned {
  ggas_in_all = 0,    // all ranks have entered
  ggas_in_mine = 1,   // the rank whose memory it is has entered
  ggas_in_none = 2,   // at once
  ggas_out_all = 0,   // all data are where they belong
  ggas_out_mine = 4,  // the rank's own source was read, and its own destination is complete
  ggas_out_none = 8,  // at once
};
GGAS_LAYOUT_FN ggas_sync_mode operator|(ggas_sync_mode a, ggas_sync_mode b) {
  return static_cast<ggas_sync_mode>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

// How ranks move data that do not lie in the segment: through a buffer of each rank that holds all data of a call
// (dynamic), or in packets through a buffer of fixed length (static).
enum ggas_scheme : unsigned { ggas_dynamic = 0, ggas_static = 1 };

// What a rank has counted, in the checked mode (docs/ranks.md#schemes).
struct ggas_rank_counts {
  uint64_t messages;  // that it sent with data
  uint64_t copies;    // of data out of its buffer
  uint64_t peak;      // bytes of its buffer that a call used at most
};

// Blocks first ... first + blocks - 1 of a grid on every node of a team. Rank = rank of the node in the team * blocks +
// block - first. The same at every rank; made by ggas::rank_space.
struct ggas_ranks {
  ggas_team nodes;      // its id does not count
  unsigned blocks;      // of a node that are ranks
  unsigned first;       // block of the grid that is the node's first rank
  uint64_t place;       // of words and slots, bytes from the start of every segment
  unsigned slot_bytes;  // of a message, a multiple of 16
  unsigned credits;     // messages that a rank may have sent to another one that were not taken yet
  ggas_scheme scheme = ggas_dynamic;
  uint64_t buffer_bytes = 0;    // of the buffer of each rank, a multiple of 64; 0: data lie in the segment
  unsigned native_barrier = 0;  // nodes meet by ggas_barrier of blocks at this index; 0: by words of the ranks
};

namespace ggas {

// Memory of every rank. The memory of rank number i of a node begins at `offset` + i * `step` of the node's segment.
template <class T>
struct ranked {
  uint64_t offset, step;
  GGAS_LAYOUT_FN operator ranked<const T>() const { return {offset, step}; }
};
template <class T>
struct ranked<const T> {
  uint64_t offset, step;
};

// Offsets from ggas_ranks::place on, in bytes. Words of 64 bits, each with one writer: another rank, or the own one.
struct rank_layout {
  uint64_t ranks, blocks, slot_bytes, credits, buffer_bytes;

  static constexpr uint64_t word = 8, line = 64;
  static constexpr uint64_t most_blocks = 1024, most_ranks = 32768;  // of a node, of all
  static constexpr uint64_t turns = 16;                              // of the words of permutes
  static constexpr uint64_t node_bytes = 4 * line;

  // Words of the node: for the barrier of its blocks, for the rounds of dissemination by other nodes, and the number
  // of those that have ended.
  static constexpr uint64_t meeting = 0, meetings = 3 * line;
  static GGAS_LAYOUT_FN uint64_t round(int step) { return line + static_cast<uint64_t>(step) * word; }

  // Words of a rank, from part() on: the number of calls, of permutes and of agreements that have ended; the call whose
  // data the ranks of its node may read; and rows with a word for each rank.
  static constexpr uint64_t calls = 0, permutes = word, agreements = 2 * word, offered = 6 * word;
  // Only counted in the checked mode: ggas_rank_counts.
  static constexpr uint64_t messages = 3 * word, copies = 4 * word, peak = 5 * word;
  enum row : unsigned {
    entered,               // the call that a rank has entered
    arrived,               // the call of which a rank has stored all its data here
    admitted,              // the permute that a rank has entered, as last reported
    filled,                // messages of a rank that are here
    taken,                 // own messages that a rank has taken
    sent,                  // own: messages sent to a rank
    received,              // own: messages of a rank that were taken
    terms,                 // how a rank calls: term_rows rows, twice in turn
    came = terms + 2 * 4,  // the permute of which a rank has stored its data here, `turns` rows in turn
    rows = came + 16
  };
  static constexpr unsigned term_rows = 4;
  GGAS_LAYOUT_FN uint64_t part(uint64_t block) const { return node_bytes + block * part_bytes(); }
  GGAS_LAYOUT_FN uint64_t of_rank(unsigned row, uint64_t rank) const { return line + (row * ranks + rank) * word; }
  // Where message `number` of a rank lies.
  GGAS_LAYOUT_FN uint64_t slot(uint64_t from, uint64_t number) const {
    return words_bytes() + (from * credits + number % credits) * slot_bytes;
  }

  GGAS_LAYOUT_FN uint64_t buffer(uint64_t block) const { return part(block) + messages_end(); }
  GGAS_LAYOUT_FN uint64_t buffer_step() const { return part_bytes(); }

  // Bytes of every segment: 256 + blocks * (64 + 248 * ranks, rounded up to 64, + ranks * credits * slot_bytes, rounded
  // up to 64, + buffer_bytes).
  GGAS_LAYOUT_FN uint64_t bytes() const { return part(blocks); }

 private:
  static GGAS_LAYOUT_FN uint64_t in_lines(uint64_t bytes) { return (bytes + line - 1) / line * line; }
  GGAS_LAYOUT_FN uint64_t words_bytes() const { return in_lines(line + rows * ranks * word); }
  GGAS_LAYOUT_FN uint64_t messages_end() const { return in_lines(words_bytes() + ranks * credits * slot_bytes); }
  GGAS_LAYOUT_FN uint64_t part_bytes() const { return messages_end() + buffer_bytes; }
};
static_assert(rank_layout::rows == 31 && rank_layout::turns == rank_layout::rows - rank_layout::came);

namespace detail {
GGAS_LAYOUT_FN int rank_count(const ggas_ranks& r) { return r.nodes.size * static_cast<int>(r.blocks); }
GGAS_LAYOUT_FN rank_layout layout_of(const ggas_ranks& r) {
  return {static_cast<uint64_t>(rank_count(r)), r.blocks, r.slot_bytes, r.credits, r.buffer_bytes};
}
}  // namespace detail

}  // namespace ggas
