// SPDX-License-Identifier: Apache-2.0
// What calls of the device API are reported by, and what they report. Host and device.
#pragma once

#include "ggas/detail/platform/integers.hpp"
#include "ggas/status.hpp"

#define GGAS_FOREVER (~0ull)

// How a flag is compared: `*flag cmp value`.
enum ggas_cmp { ggas_eq, ggas_ne, ggas_lt, ggas_le, ggas_gt, ggas_ge };
// Order of a load or store relative to other accesses of its thread. Each is a separate type, so that an invalid order
// of a load or a store does not compile.
enum ggas_relaxed_order { ggas_relaxed };
enum ggas_acquire_order { ggas_acquire };
enum ggas_release_order { ggas_release };

// What a reduction does; ggas_and, ggas_or and ggas_xor are for integers.
enum ggas_op : unsigned { ggas_sum, ggas_min, ggas_max, ggas_prod, ggas_and, ggas_or, ggas_xor };
// How.
enum ggas_method : unsigned {
  // Flags after data, the original's. Block forms, all nodes.
  ggas_by_gather,      // every member pushes to one node, which reduces (and sends the result to all): least traffic
  ggas_by_all_gather,  // every member pushes to every member, all reduce: one synchronisation
  // Numbers next to data (docs/collectives.md).
  ggas_one_shot,  // every member sends everything to every member: one hop
  ggas_two_shot,  // each member reduces its part and sends it to every member: two hops
  ggas_direct,    // each member loads its part from every member and stores the sum to every member: where peers are
                  // memory
  ggas_push,      // as direct, by stores only, with the destinations as the place where parts wait for the sum
  ggas_read,      // each member loads everything from every member and stores nowhere else: the most traffic
  ggas_tree,      // sums go up a binomial tree, the result down: fewest messages; sums in the order of the tree
  ggas_auto,      // by size, as measured (ggas::tuning)
  ggas_by_nic,    // by the unit of the NIC: all nodes, up to 256 bytes; sums in the order of its tree
};

// What a scan gives a member: the combination of its own element and those before it, or of those before it alone.
enum ggas_scan_kind : unsigned { ggas_scan_inclusive, ggas_scan_exclusive };

// What a put does to its signal.
enum ggas_signal_op : int { ggas_signal_set, ggas_signal_add };
// What an atomic makes of a word; cas: if it was `compare`.
enum ggas_atomic : int {
  ggas_atomic_add,
  ggas_atomic_swap,
  ggas_atomic_cas,
  ggas_atomic_and,
  ggas_atomic_or,
  ggas_atomic_xor,
  ggas_atomic_min,
  ggas_atomic_max
};

// A record in the notification ring of a queue.
struct ggas_notification {
  uint64_t cookie;
  uint32_t size;    // bytes of the put; of one longer than 8 MB, which travels in pieces, those of the last piece
  uint32_t node;    // who sent it
  uint32_t queue;   // with which queue
  uint32_t kind;    // ggas_note_*
  uint32_t code;    // ST_* of docs/rma.md, 0: all went well
  uint32_t action;  // op of the descriptor
};
// A message of VELO.
struct ggas_velo_message {
  ggas_notification from;  // cookie, size (bytes of data), node and queue
  uint64_t data[8];        // zero after its bytes
};
enum ggas_note_kind {
  ggas_note_requester = 0,
  ggas_note_arrived = 1,
  ggas_note_served = 2,
  ggas_note_error = 3,  // an operation of this queue failed
  ggas_note_lost = 4,   // `cookie` notifications were dropped before this one
};

// Operations of a queue that have failed since its start, and the NIC's code of the last one (ST_* in docs/rma.md).
struct ggas_queue_failures {
  uint32_t count;
  uint32_t code;
};
