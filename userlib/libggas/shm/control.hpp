// SPDX-License-Identifier: Apache-2.0
// The header of a rank's arena, before its segments. All ranks read it, and write where its comments say so. No process
// trusts sizes or indices in it: a malformed rank breaks only its own transfers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "userlib/libggas/base/transport.hpp"
#include "userlib/libggas/shm/doorbell.hpp"

namespace ggas::library::shm {

inline constexpr unsigned ranks_most = 1024;
inline constexpr size_t page = 4096;
using rank_set = std::array<std::atomic<uint64_t>, ranks_most / 64>;

inline void insert(rank_set& s, unsigned rank) { s[rank / 64].fetch_or(uint64_t{1} << rank % 64); }
inline bool has(const rank_set& s, unsigned rank) {
  return s[rank / 64].load(std::memory_order_relaxed) >> rank % 64 & 1;
}

// Kinds of memory of a segment. All ranks have mapped arenas and memory of GPUs. User memory is accessed by system
// calls or by a helper thread of its owner; device memory that its owner has mapped is accessed by that thread only.
enum class memory : uint32_t { arena, user, gpu, user_on_gpu, mapped };
inline bool of_user(memory m) { return m == memory::user || m == memory::user_on_gpu || m == memory::mapped; }
inline bool on_gpu(memory m) { return m == memory::gpu || m == memory::user_on_gpu; }

// Written by its owner. The generation is odd while the segment is there; it changes before and after all else.
struct segment_entry {
  std::atomic<uint64_t> generation;
  std::atomic<memory> made_of;
  std::atomic<uint64_t> offset;   // in the arena, or in the memory of the rank's GPU
  std::atomic<uint64_t> address;  // of its first byte in the owner
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> slots;  // offset in the arena; all ranks write there
  rank_set permitted;
  doorbell notified;  // after each store to a slot
};
using slot = std::atomic<uint32_t>;

// A message of one rank. The sender fills it, the owner of the arena empties it.
struct alignas(64) mailbox {
  std::atomic<uint32_t> full;
  uint32_t bytes;
  std::byte data[GGAS_PASSIVE_MOST];
};

// What a rank asks the owner's helper to do with memory of the owner's user.
struct alignas(64) request {
  enum state : uint32_t { free, posted, taken, done };
  enum kind : uint32_t { write, read, fetch_add, compare_swap };
  static constexpr size_t bytes_most = 64 << 10;
  std::atomic<uint32_t> now;
  kind what;
  uint32_t segment;
  int32_t result;  // a ggas_rc
  uint64_t offset, bytes, one, two;
  std::byte data[bytes_most];
};

// A group this rank is in, at the group's place in its table.
struct group_record {
  std::atomic<uint64_t> id;     // given by the leader, the group's lowest rank; 0: none
  std::atomic<uint64_t> round;  // of the leader: the rounds of this group begin after it
  rank_set members;
};

struct control {
  std::atomic<uint32_t> left;  // 1: the rank has said shutdown
  doorbell groups;             // rung when a record of a group that this rank leads has changed
  doorbell arrived;            // a mailbox here is full
  doorbell drained;            // a mailbox here is empty again
  doorbell asked;              // a request here is posted
  doorbell served;             // a request here is done
  std::array<segment_entry, GGAS_SEGMENTS> segments;
  std::array<group_record, GGAS_GROUPS> records;
};

// For groups with many members, in the arena of the leader: which member has arrived in which round.
struct round_board {
  std::atomic<uint64_t> released;  // rounds in which all have arrived
  doorbell turned;
  std::array<std::atomic<uint64_t>, ranks_most> arrived;  // by member
};

// A member's part of every other round. In small groups its number is in front of the data, in the same cache line: a
// reader that sees the number has the data, and members share no line that they write.
struct alignas(64) round_part {
  static constexpr unsigned few = 8;  // members who look at each other
  std::atomic<uint64_t> arrived;
  std::byte bytes[exchange::part_most];
};

// Where things are in an arena of a job of `size` ranks.
struct layout {
  explicit layout(unsigned size) : ranks(size) {}
  static constexpr size_t up(size_t n) { return (n + page - 1) / page * page; }

  size_t mailboxes() const { return up(sizeof(control)); }
  size_t requests() const { return mailboxes() + up(ranks * sizeof(mailbox)); }
  size_t groups() const { return requests() + up(ranks * sizeof(request)); }
  // A group has the board, two parts of each member in turn, and two blocks of each kind in turn.
  size_t parts() const { return up(sizeof(round_board)); }
  size_t blocks() const { return parts() + up(2 * ranks * sizeof(round_part)); }
  size_t group_bytes() const { return blocks() + 4 * exchange::block_bytes; }
  size_t segments() const { return groups() + GGAS_GROUPS * group_bytes(); }

  size_t ranks;
};

}  // namespace ggas::library::shm
