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

// What is known of a message that has come.
struct message_head {
  int32_t source, tag;
  uint32_t info;   // the sender's word
  uint32_t asked;  // not 0: a long one, of which the sender has `other` and, where it can be reached, `address`
  uint64_t bytes, other, address;
};
// One that no receive wants yet, in four chains. A place is 0: none, or its number + 1.
struct alignas(16) waiting_message {
  static constexpr unsigned chains = 4;
  message_head head;
  uint16_t next[chains], before[chains];
  uint32_t number;  // of those put aside
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
    withdrawn,  // send: gave up while sending; the receiver is to learn so
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

// What all ranks of a node share, at the start of the memory. The first block writes it when a launch begins.
struct alignas(16) fact_words {
  uint64_t place, part_bytes;  // of the ranks of a node: message_layout
  uint32_t nodes, lines_log2, short_bytes;
  int32_t node_ranks;
};
struct message_facts : fact_words {
  uint64_t chains, messages, slots, data;  // offsets in a part
  uint32_t waiting, requests;
};

// What a rank keeps for itself, from the start of its part on. Each call reads the first words: a receive the first 32
// bytes, a send all.
struct alignas(16) matching_words {
  uint64_t used;     // requests, a bit each: not unused
  uint64_t moving;   // and those to be moved on by their rank
  uint64_t launch;   // launches begun
  uint32_t waiting;  // messages that wait
  uint32_t fresh;    // places never used in this launch
  // The last receiver of a short message, the lines of that ring up to the message, and those known to be free.
  uint64_t sent_until, free_until;
  int32_t sent_to;
  int32_t me;          // own number
  uint32_t free;       // the first place given back
  uint32_t put_aside;  // messages, so far
};
struct matching_lists : matching_words {
  uint64_t posted, copying;  // requests, a bit each
  uint64_t communicators;    // of MPI: where the rank's table of them lies; 0: there is none
  uint64_t types;            // the same for derived types
  uint64_t windows;          // of MPI, a bit each from bit 1 on
  uint64_t requests;         // made, in all launches
  uint32_t visible;          // of the messages put aside, those whose senders' earlier stores are visible
  uint32_t channels;         // of MPI: for partitioned sends, so far
  uint64_t partitioned;      // of MPI: the first of the rank's partitioned requests; 0: there is none
};
struct matching_state : matching_lists {
  // What the call of the rank that just ends gives, for all of its threads.
  uint32_t status;
  int32_t source, tag;
  uint32_t info;
  uint64_t bytes, number;
};
static_assert(sizeof(matching_state) <= 192 && sizeof(message_facts) <= 128);
// What the beginning of a launch does not make zero, where it lies: begin_matching().
constexpr unsigned offset_of_launch = 16, offset_of_me = 48, offset_of_requests = 96;
constexpr uint64_t sent_to_none = 0xffffffff;
static_assert(sizeof(matching_words) == 64 && sizeof(matching_lists) == 128);

// First and last place of a chain, if it is of this launch.
struct alignas(8) message_chain {
  uint32_t launch;
  uint16_t first, last;
};

// Offsets of a rank's part, which begins at place + first() + rank of the node * bytes().
struct message_layout {
  uint64_t nodes, lines_log2, short_bytes, waiting, requests, stage_bytes;

  static constexpr uint64_t line = 64, most_requests = 64, most_waiting = 32768, windows = 4;
  static constexpr uint64_t number_bytes = 16;  // of a number of MPI's reductions
  static GGAS_LAYOUT_FN uint64_t first() { return 2 * line; }
  static GGAS_LAYOUT_FN uint64_t ring() { return 3 * line; }
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
// Who puts one number into a reduction of MPI: a block of threads, else a rank.
GGAS_LAYOUT_FN int ranks_of_unit(const ggas_messages& m) {
  return m.kind == ggas_rank_is_thread ? static_cast<int>(m.threads) : 1;
}
GGAS_LAYOUT_FN int units_of_node(const ggas_messages& m) {
  return m.kind == ggas_rank_is_thread ? static_cast<int>(m.blocks.blocks) : ranks_of_node(m);
}
// For reductions, after the parts of ranks: two halves, in each stage_bytes / 16 rows with a number of every unit of
// all nodes.
GGAS_LAYOUT_FN uint64_t numbers_of(const ggas_messages& m) {
  return m.place + message_layout::first() + static_cast<uint64_t>(ranks_of_node(m)) * layout_of(m).bytes();
}
GGAS_LAYOUT_FN uint64_t number_rows(const ggas_messages& m) { return m.stage_bytes / message_layout::number_bytes; }
GGAS_LAYOUT_FN uint64_t numbers_bytes(const ggas_messages& m) {
  return 2 * number_rows(m) * message_layout::number_bytes *
         static_cast<uint64_t>(m.blocks.nodes.size * units_of_node(m));
}
// From `place` on, of every segment.
GGAS_LAYOUT_FN uint64_t bytes_of(const ggas_messages& m) { return numbers_of(m) - m.place + numbers_bytes(m); }
}  // namespace detail

}  // namespace ggas
