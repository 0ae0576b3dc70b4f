// SPDX-License-Identifier: Apache-2.0
// Ranks that exchange messages as a value for host and kernels, and where their rings and state lie. docs/messages.md.
#pragma once

#include "ggas/detail/platform/ring_shape.hpp"
#include "ggas/detail/ranks/handle.hpp"

// What a rank is.
enum ggas_rank_kind : unsigned { ggas_rank_is_thread, ggas_rank_is_warp, ggas_rank_is_block };

// The same at every rank; made by ggas::message_space.
struct ggas_messages {
  ggas_ranks blocks;     // the blocks of all nodes, and the words of their barriers
  ggas_rank_kind kind;   // of what they consist
  unsigned threads;      // of a block
  uint64_t place;        // of rings and state, bytes from the start of every segment
  unsigned lines_log2;   // of the ring from a node to a rank
  unsigned short_bytes;  // of the longest message that is sent without a question
  unsigned waiting;      // places of a rank for messages that nothing wants yet
  unsigned requests;     // of a rank that have not ended
  unsigned stage_bytes;  // of a rank, for collectives of MPI (mpi.cuh)
};

namespace ggas {

// One message that no receive wants yet, in four chains. A place is 0: none, or its number + 1.
struct waiting_message {
  static constexpr unsigned chains = 4;
  int32_t source, tag;
  uint32_t info;   // the sender's word
  uint32_t asked;  // not 0: a long one, of which the sender has `other` and, where it can be reached, `address`
  uint64_t bytes, other, address;
  uint16_t next[chains], before[chains];
};

// A message that is being sent or received. Only its rank accesses it, except `handshake`, which the receiver of a long
// message sets to done.
struct message_request {
  enum stage : uint32_t {
    unused,
    unmatched,  // receive: to look at the messages that wait
    queued,     // send: not in the ring yet
    asked,      // send: the receiver has been asked
    sending,    // send: the receiver wants pieces
    posted,     // receive: nothing that fits came yet
    copying,    // receive: the data lie at the sender
    answering,  // receive: the sender is to be answered, then sends pieces
    filling,    // receive: pieces come
    ended
  };
  enum word : uint64_t { active = 1, done = 2, given_up = 3 };

  uint64_t handshake;  // number * 4 + word
  uint64_t number;     // of this use
  uint32_t state, status;
  int32_t peer, tag;          // as called
  uint32_t info;              // a send's word
  uint32_t leaders;           // the buffer is a variable of the rank's first thread
  int32_t source, found_tag;  // of what was received
  uint32_t found_info;
  uint64_t buffer, bytes;   // as called
  uint64_t moved;           // bytes that went, or came, in pieces
  uint64_t other, address;  // of a long message at its sender
  uint64_t found_bytes;
};
static_assert(sizeof(waiting_message) <= 64 && sizeof(message_request) <= 128);

// What a rank keeps for itself, from the start of its part on.
struct matching_state {
  ggas_messages all;
  ring_shape ring;                         // to this rank
  uint64_t chains, messages, slots, data;  // offsets in the part: message_layout
  uint64_t part_bytes;
  int32_t me, node_ranks;  // own number, ranks of a node
  uint64_t launch;         // launches begun
  uint64_t requests;       // made, in all launches
  // Requests, a bit each: not unused; posted; copying; to be moved on by their rank.
  uint64_t used, posted, copying, moving;
  uint32_t waiting;        // messages that wait
  uint32_t fresh;          // places never used in this launch
  uint32_t free;           // the first place given back
  uint32_t pieces;         // of collectives of MPI that have begun
  uint32_t windows;        // of MPI, a bit each from bit 1 on
  uint64_t communicators;  // of MPI: where the rank's table of them lies; 0: there is none
  uint64_t types;          // the same for derived types
  // The last message of one word: its receiver, the lines of that ring up to it, and those known to be free.
  int32_t sent_to;
  uint64_t sent_until, free_until;
  // What the call of the rank that just ends gives, for all of its threads.
  uint32_t status;
  int32_t source, tag;
  uint32_t info;
  uint64_t bytes, number;
};
static_assert(sizeof(matching_state) <= 320);

// First and last place of a chain, if it is of this launch.
struct message_chain {
  uint32_t launch;
  uint16_t first, last;
};

// Offsets of a rank's part, which begins at place + rank of the node * bytes().
struct message_layout {
  uint64_t nodes, lines_log2, short_bytes, waiting, requests, stage_bytes;

  static constexpr uint64_t line = 64, most_requests = 64, most_waiting = 32768, windows = 4;
  static GGAS_LAYOUT_FN uint64_t ring() { return 5 * line; }
  GGAS_LAYOUT_FN uint64_t chain(uint64_t i) const {
    return ring() + nodes * (64 + (uint64_t{16} << lines_log2)) + i * 8;
  }
  GGAS_LAYOUT_FN uint64_t message(uint64_t i) const { return chain(0) + up((3 * waiting + 1) * 8) + i * line; }
  GGAS_LAYOUT_FN uint64_t request(uint64_t i) const { return message(waiting) + i * 2 * line; }
  GGAS_LAYOUT_FN uint64_t data(uint64_t i) const { return request(requests) + i * short_bytes; }
  // For collectives and windows of MPI.
  GGAS_LAYOUT_FN uint64_t stage() const { return data(waiting); }
  GGAS_LAYOUT_FN uint64_t window(uint64_t i) const { return stage() + stage_bytes + i * line / 2; }
  GGAS_LAYOUT_FN uint64_t bytes() const { return window(windows); }

 private:
  static GGAS_LAYOUT_FN uint64_t up(uint64_t n) { return (n + line - 1) / line * line; }
};

namespace detail {
GGAS_LAYOUT_FN unsigned ranks_of_block(const ggas_messages& m) {
  return m.kind == ggas_rank_is_thread ? m.threads : m.kind == ggas_rank_is_warp ? m.threads / 32 : 1;
}
GGAS_LAYOUT_FN int ranks_of_node(const ggas_messages& m) {
  return static_cast<int>(m.blocks.blocks * ranks_of_block(m));
}
GGAS_LAYOUT_FN int rank_count(const ggas_messages& m) { return m.blocks.nodes.size * ranks_of_node(m); }
GGAS_LAYOUT_FN message_layout layout_of(const ggas_messages& m) {
  return {
      static_cast<uint64_t>(m.blocks.nodes.size), m.lines_log2, m.short_bytes, m.waiting, m.requests, m.stage_bytes};
}
}  // namespace detail

}  // namespace ggas
