// SPDX-License-Identifier: Apache-2.0
// The library's records of its calls: of failed waits, and of a trace. Written by kernels, read by the host
// (userlib/cluster/report). Host and device.
#pragma once

#include "ggas/detail/platform/integers.hpp"

#ifdef __CUDACC__
#define GGAS_LAYOUT_FN __host__ __device__ constexpr
#else
#define GGAS_LAYOUT_FN constexpr
#endif

// Calls that may wait for someone, by their names without suffix.
#define GGAS_WAITING_CALLS(X)    \
  X(ggas_wait_until)             \
  X(ggas_wait_until_any)         \
  X(ggas_wait_until_some)        \
  X(ggas_wait_until_all)         \
  X(ggas_signal_wait_until)      \
  X(ggas_take_tagged)            \
  X(ggas_put_notify)             \
  X(ggas_put_value_notify)       \
  X(ggas_notify)                 \
  X(ggas_notification_wait)      \
  X(ggas_notification_wait_some) \
  X(ggas_notification_wait_all)  \
  X(ggas_velo_send)              \
  X(ggas_velo_take)              \
  X(ggas_barrier)                \
  X(ggas_sync)                   \
  X(ggas_barrier_wait)           \
  X(ggas_broadcast)              \
  X(ggas_allgather)              \
  X(ggas_alltoall)               \
  X(ggas_gather)                 \
  X(ggas_scatter)                \
  X(ggas_allreduce)              \
  X(ggas_reduce)                 \
  X(ggas_reducescatter)          \
  X(ggas_permute)                \
  X(ggas_scan)                   \
  X(ggas_messages_begin)         \
  X(ggas_send)                   \
  X(ggas_recv)                   \
  X(ggas_probe)                  \
  X(ggas_wait)

namespace ggas {

enum class call_id : uint32_t {
  unknown,
#define GGAS_CALL_ID(name) name,
  GGAS_WAITING_CALLS(GGAS_CALL_ID)
#undef GGAS_CALL_ID
};

// What a wait was for.
enum class waited_for : uint32_t {
  word,     // a word of this node: `address`, `cmp`, `expected`, `seen`
  members,  // of a team at barrier or sync number `expected`
  lines,    // of other members, of exchange `expected` of a collective
  parts,    // of other nodes, number `expected`, by the methods with flags
  unit,     // the NIC's unit, for operation `expected`: it names none
  blocks,   // of the own grid, which did not come to number `expected`
  count,    // of the own blocks that meet only `seen` of `expected` came: the word counts them, and names none
  leader,   // block 0 of the own grid, which waits for the other nodes, to end number `expected`
  ring,     // room in the ring of notifications of queue `expected` of a node
  slot,     // room in the work of the own queue `expected` of the NIC
  record,   // a notification in the ring of queue `expected`
  ranks,    // of other ranks, which did not come to call `expected` or did not send all of it
  message,  // from the rank in `missing`, or any, with tag `expected`, or any (all ones); `seen`: own rank
  workers,  // only `seen` of the `expected` blocks of the group of workers came to the end of its function `n`
  receipt,  // by the rank in `missing`, of the message with tag `expected`, or room for it; `seen`: own rank
  mail,     // a message in the mailbox of queue `expected`
  // What was refused, by no wait: ggas_bad_argument.
  same_call,   // of the member or rank in `missing`, whose call differs: see call_terms
  other_call,  // the same, noticed without the checked mode: how it differs is not known
  free_place,  // another block of the node is in a call that uses the same flags or channels of team `expected`
  overlap,     // what the call reads and what it writes
};

// What members of a collective must call alike, packed into the lines that inform others of it.
struct call_terms {
  uint64_t n;
  // call 7:0, element 15:8, op 23:16, method 31:24, root 47:32 (0xffff: none), blocks with a channel 63:48 (of
  // ranks: blocks of a node)
  uint64_t how;
  uint64_t team;  // first 15:0, stride 31:16, size - 1 47:32; bit 63: refused for the member's own pointers

  static constexpr uint64_t is_float = 0x40, is_signed = 0x80;  // of `element`, next to its bytes
  static constexpr uint64_t of_ranks = 0x80, exclusive = 0x40;  // of `method`, next to the ggas_sync_mode of ranks
  static constexpr uint64_t refuses = uint64_t{1} << 63;
};

// A wait that failed, or a call that was refused. A thread has one record: that of its last one.
struct wait_record {
  static constexpr uint32_t most_missing = 8;
  static constexpr int32_t no_root = -1;
  uint64_t who;     // block << 32 | thread << 1 | 1; 0: no record
  uint64_t at_ns;   // when it ended, on the timer of kernels
  uint64_t number;  // of the node's waits that failed, from 1
  uint64_t address;
  uint64_t expected, seen;
  uint64_t counted;  // members, lines, parts, unit: where each node counts how many ended, from the segment's start
  uint64_t n;        // of the call, as what follows
  uint32_t call;     // call_id
  uint32_t status;   // ggas_timed_out or ggas_aborted
  uint32_t kind;     // waited_for
  uint32_t cmp;      // ggas_cmp
  uint32_t type;     // of the word: bytes, and wait_record::is_signed or is_float
  uint32_t team, method, op, bytes;
  int32_t first, stride, size, root;  // of the team; size 0: the call has none
  uint32_t missing_count;
  uint32_t missing[most_missing];  // the first of them

  // A node or block that did not come; bits: it had sent something of the exchange; so it is with all other members.
  static constexpr uint32_t has_sent = 1, like_all = 2, missing_bits = 3;
  GGAS_LAYOUT_FN static uint32_t missing_one(int whom) { return (static_cast<uint32_t>(whom) + 1) << 2; }
  GGAS_LAYOUT_FN int whom(uint32_t i) const { return static_cast<int>(missing[i] >> 2) - 1; }

  // For a call that differs from the call of the member in missing[0]: the own terms begin at `address`, those of the
  // other member at missing[2].
  static constexpr uint32_t own_terms = 24, other_terms = 128;

  static constexpr uint32_t is_signed = 256, is_float = 512;
};
static_assert(sizeof(wait_record) == 152);

// A call that has ended, in the trace of its node. It is written by two stores, and nothing is packed, because a trace
// costs as much as its instructions.
struct alignas(16) call_times {
  uint64_t began, ended;  // ns, on the timer of kernels
};
struct alignas(16) call_facts {
  uint32_t block, thread;
  uint32_t call;  // call_id; 0: there is no record
  uint32_t status;
};
struct call_record {
  call_times when;
  call_facts what;
};

// Where the calls of a node are traced: memory of its own, outside of the segment.
struct call_trace {
  call_record* at;    // nullptr: they are not traced. `places` of blocks and grids, and as many of smaller groups
  uint32_t* claimed;  // how many shares of places were given to blocks, and places to smaller groups, modulo 2^32
  uint32_t places;    // a power of two; place i is i % places
};

}  // namespace ggas
