// SPDX-License-Identifier: Apache-2.0
// What a driver writes to a NIC so that a window, an export or a context works (docs/registers.md): once for simulated
// nodes, benches of the RTL and benchmarks of the NIC alone. `set(offset, value)` writes a register.
#pragma once

#include <cstdint>
#include <utility>

#include "ggas_regs.h"

namespace ggas::driver {

// Memory that other nodes reach by its number.
struct exported {
  uint64_t base = 0, bytes = 0;  // bus address
  uint16_t domain = 0;
  unsigned rights = 3;  // bit 0: read, 1: write

  uint64_t access() const {
    return domain | GGAS_EXPORT_ACCESS_VALID_MASK | uint64_t{rights} << GGAS_EXPORT_ACCESS_READ_SHIFT;
  }
};
template <class Set>
void set_export(Set&& set, unsigned number, const exported& e) {
  set(uint16_t(GGAS_REG_EXPORT_BASE(number)), e.base);
  set(uint16_t(GGAS_REG_EXPORT_SIZE(number)), e.bytes);
  set(uint16_t(GGAS_REG_EXPORT_ACCESS(number)), e.access());
}

// A part of the window, and the export of another node that is there.
struct interval {
  uint64_t start = 0, end = 0;  // offsets in the window
  unsigned node = 0;            // or the number of a group
  unsigned number = 0;          // of the export there
  uint16_t domain = 0;
  bool group = false, valid = true;

  uint64_t target() const {
    return node | (valid ? GGAS_INTERVAL_TARGET_VALID_MASK : 0) | (group ? GGAS_INTERVAL_TARGET_GROUP_MASK : 0) |
           uint64_t{number} << GGAS_INTERVAL_TARGET_EXPORT_NO_SHIFT |
           uint64_t{domain} << GGAS_INTERVAL_TARGET_DOMAIN_SHIFT;
  }
};
template <class Set>
void set_interval(Set&& set, unsigned index, const interval& i) {
  set(uint16_t(GGAS_REG_INTERVAL_START(index)), i.start);
  set(uint16_t(GGAS_REG_INTERVAL_END(index)), i.end);
  set(uint16_t(GGAS_REG_INTERVAL_TARGET(index)), i.target());
}

// Bus addresses of what a context has in memory, 0: it has none, and the sizes of its rings.
struct context {
  uint64_t notifications = 0, status = 0, mailbox = 0, queue = 0;
  unsigned notify_log2 = 0, mailbox_log2 = 0, queue_log2 = 0;
  uint16_t domain = 0;
  bool queued = false;  // descriptors are fetched from `queue`
  bool backpressure = false;

  uint64_t ctrl() const {
    return GGAS_CONTEXT_CTRL_ENABLE_MASK | uint64_t{queued} << GGAS_CONTEXT_CTRL_QUEUE_SHIFT |
           uint64_t{backpressure} << GGAS_CONTEXT_CTRL_BACKPRESSURE_SHIFT |
           uint64_t{domain} << GGAS_CONTEXT_CTRL_PD_SHIFT |
           uint64_t{notify_log2} << GGAS_CONTEXT_CTRL_NOTIFY_LOG2_SHIFT |
           uint64_t{mailbox_log2} << GGAS_CONTEXT_CTRL_MAILBOX_LOG2_SHIFT |
           uint64_t{queue_log2} << GGAS_CONTEXT_CTRL_QUEUE_LOG2_SHIFT;
  }
};
// The last write enables it.
template <class Set>
void set_context(Set&& set, unsigned vpid, const context& c) {
  set(uint16_t(GGAS_REG_CONTEXT_NOTIFY(vpid)), c.notifications);
  set(uint16_t(GGAS_REG_CONTEXT_QUEUE(vpid)), c.queue);
  set(uint16_t(GGAS_REG_CONTEXT_STATUS(vpid)), c.status);
  set(uint16_t(GGAS_REG_CONTEXT_MAILBOX(vpid)), c.mailbox);
  set(uint16_t(GGAS_REG_CONTEXT_CTRL(vpid)), c.ctrl());
}

// Sets up the ring of events: 2^log2 entries at a bus address. The number of events, and the time after the first one,
// at which an interrupt comes keep their values of the reset.
template <class Set>
void set_events(Set&& set, uint64_t ring, unsigned log2) {
  set(GGAS_REG_EVQ_BASE, ring);
  set(GGAS_REG_EVQ_CTRL, GGAS_EVQ_CTRL_ENABLE_MASK | uint64_t{log2} << GGAS_EVQ_CTRL_LOG2_SIZE_SHIFT);
}

}  // namespace ggas::driver
