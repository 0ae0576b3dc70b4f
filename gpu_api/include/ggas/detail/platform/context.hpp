// SPDX-License-Identifier: Apache-2.0
// What a kernel knows of its node; in constant memory on CUDA, next to the running grid on the host SIMT engine.
#pragma once

#include "ggas/detail/platform/layout.hpp"
#include "ggas/detail/platform/tuning.hpp"

namespace ggas {

// A context of the NIC as kernels use it (docs/rma.md).
struct rma_queue {
  char* page;           // its page of doorbells in BAR4
  char* descriptors;    // its page of descriptor slots
  const char* status;   // its status block
  char* notifications;  // its notification ring; nullptr: none
  char* slots;          // its work queue; nullptr: descriptors are written to their page
  char* mailbox;        // its mailbox; nullptr: none
  uint64_t* words;      // 8 words of own memory, zero at first, that only the device library uses: tickets, positions
  uint32_t notify_log2, slots_log2, mailbox_log2;  // sizes of the rings
  uint32_t vpid;  // number of the context, the same on every node that has a NIC of its own
};

// The NIC's unit for collectives of all nodes, as kernels use it (docs/coll.md).
struct collective_unit {
  uint64_t* block;       // of a context's page: the command, then the words of a contribution; nullptr: there is none
  const char* results;   // two blocks of 256 bytes in turn
  const uint64_t* flag;  // operations that have ended 31:0, status of the last one 35:32
};

// Where the NIC finds a node, if several share one (GPUs of a simulated computer).
struct nic_place {
  uint64_t nla;              // network logical address of byte 0 of its segment
  int32_t nic;               // number of its NIC; nodes of a NIC follow one another
  uint16_t vpid, host_vpid;  // of its first context for kernels and for host programs
};

struct context {
  int32_t node;                    // own id
  int32_t nodes;                   // nodes in the address space
  char* window;                    // start of the global window; node n's segment begins at window + n * stride
  uint64_t stride;                 // distance of two segments in the window, bytes
  char* local;                     // own segment, without the window
  uint64_t segment_bytes;          // usable bytes of every segment
  uint64_t reserved;               // first bytes of every segment kept for collectives (barrier flags, slots)
  const volatile uint64_t* quiet;  // NIC page: a load returns once earlier stores are visible; nullptr: fence suffices
  const rma_queue* queues;         // contexts of the NIC for this GPU; nullptr: none, put and get are stores and loads
  int32_t queue_count;
  uint64_t segment_nla;     // network logical address of byte 0 of the own segment
  const nic_place* places;  // by node; nullptr: every node has a NIC of its own, and all are as this one
  tuning tuned;             // the same on every node
  bool checked;             // members of collectives compare their calls (docs/collectives.md); the same on every node
  bool no_peer_atomics;     // where peers are reached directly: not with atomics; the same on every node
  call_trace trace;         // of the node's calls
  collective_unit collectives;
  char* others;  // start of the part of the window where stores go to that place of every other node; nullptr: none
};

// What constant memory of a GPU holds: a context, and what takes multiplications that no call should do.
struct constants {
  context own;
  layout shape;  // of its reserved area
  uint64_t window_bytes;
  uint32_t stride_log2;
};

#ifndef __CUDACC_RTC__
// False: the stride of the window is no power of two, or the own segment does not lie in the window.
inline bool constants_of(const context& c, constants& all) {
  uint32_t log2 = 0;
  while (log2 < 63 && uint64_t{1} << log2 < c.stride) ++log2;
  const auto node = static_cast<uint64_t>(c.node), nodes = static_cast<uint64_t>(c.nodes);
  if (c.nodes > 0 && (c.stride != uint64_t{1} << log2 || c.local != c.window + c.stride * node)) return false;
  all = {c, layout::of(nodes, c.reserved), nodes * c.stride, log2};
  return true;
}
#endif

}  // namespace ggas
