// SPDX-License-Identifier: Apache-2.0
// Protocol between a rank and the simulator: over a socket of packets, a request of the rank and its reply, one at a
// time. The rank's memory, an anonymous file that both have mapped, is that of its simulated node. Between a reply and
// the next request simulated time stands still, so the rank sees memory as it is at that time. The program's own memory
// is not moved: the simulator reads and writes it in the process, when a NIC does.
//
// A request is first charged for the rank's work since the last one: calls of the library, polled words of memory.
#pragma once

#include <cstdint>

namespace ggas::library::sim {

inline constexpr uint32_t version = 2;  // of all in this file

// Where the NIC writes, from the beginning of a rank's memory: parts of its contexts.
inline constexpr uint64_t notify_log2 = 8, mailbox_log2 = 11;
inline constexpr uint64_t status_at(unsigned context) { return 64 * context; }
// A word outside of all contexts: the simulator increments it while simulated time advances, and while it waits for a
// process. A simulator that hangs does not.
inline constexpr uint64_t sign_of_life_at = 2048;
inline constexpr uint64_t notifications_at(unsigned context) { return 4096 * (1 + context); }
inline constexpr uint64_t mailbox_at = 0x10000;
inline constexpr uint64_t reserved_bytes = 0x60000;
// Pages of the NIC, after the memory of the GPU: that of doorbells and that of descriptors of each context, one after
// the other.
inline constexpr uint64_t page_bytes = 4096;
inline constexpr uint64_t doorbells_at(unsigned context) { return 2 * page_bytes * context; }
inline constexpr uint64_t descriptors_at(unsigned context) { return doorbells_at(context) + page_bytes; }

// What the simulator informs all ranks at the start.
struct plan {
  uint32_t version;
  uint32_t nodes;
  uint64_t memory_bytes;  // of each rank, for its host
  uint64_t gpu_bytes;     // after them: those of its GPU
  uint64_t nla;           // network logical address of the first byte
};

enum class what : uint32_t {
  pay,    // nothing more
  store,  // data to a page of the NIC
  pause,  // until a byte of the ranges changes, a rank ends, or the time is over
  state,  // of a rank
  kill,   // a rank
  bind,   // memory of the program's own to a part of the rank's memory; with a descriptor of the process's memory
  unbind,
  copy,    // begins a copy between memory of the GPU and of the host, or within the GPU's: one at a time
  copied,  // until it is over
  leave    // the last request; no reply
};

inline constexpr unsigned looked_most = 32, ranges_most = 64, data_most = 64, bound_most = 1024;
inline constexpr uint64_t watched_most = 1 << 20;  // bytes of all ranges

struct range {
  uint64_t offset, bytes;  // in the rank's memory
};

struct request {
  what kind;
  uint32_t calls;   // of the library
  uint32_t looks;   // words in `looked`
  uint32_t ranges;  // in `watched`
  uint32_t rank;    // state, kill
  uint32_t ended;   // ranks that this one knows to have ended
  uint64_t offset,
      bytes;         // of the store, in the NIC's pages; bind: in the rank's memory, from a whole page on; copy: to
  uint64_t address;  // bind: in the process; copy: where the bytes are, in the rank's memory
  uint64_t ns;       // of the pause; 0: looks once
  uint64_t looked[looked_most];
  range watched[ranges_most];
  uint8_t data[data_most];
};

struct reply {
  uint64_t now_ns;
  uint32_t ended;  // ranks that have ended
  int32_t value;   // state: a ggas_state; kill, bind, copy: 0, or an errno
};

}  // namespace ggas::library::sim
