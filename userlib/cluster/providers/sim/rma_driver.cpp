// SPDX-License-Identifier: Apache-2.0
#include "userlib/cluster/providers/sim/rma_driver.hpp"

#include "ggas_regs.h"
#include "sim/driver/set_up.hpp"

namespace ggas::userlib {

namespace {

constexpr uint64_t entry_bytes = 16, table_bytes = 1 << 20;  // a piece for each class: 64 Ki entries
constexpr uint64_t valid = 1, readable = 2, writable = 4;
constexpr unsigned class_shift = 46;

uint64_t table(unsigned page_class) { return sim::translation_base + page_class * table_bytes; }

}  // namespace

uint64_t rma_driver::map(uint64_t bus, uint64_t bytes, unsigned page_class) {
  const uint64_t page = page_bytes_of_class(page_class), first = count_[page_class];
  for (uint64_t at = 0; at < bytes; at += page) {
    const uint64_t entry = table(page_class) + entry_bytes * count_[page_class]++;
    if (!system_.owns(node_)) continue;
    auto& memory = system_.memory(node_);
    memory.store<uint64_t>(entry, (bus + at) | valid | readable | writable);
    memory.store<uint64_t>(entry + 8, cluster_domain);
  }
  return uint64_t(page_class) << class_shift | first * page;
}

void rma_driver::set_tables() {
  static constexpr unsigned tables[] = {GGAS_REG_ATU_TABLE0, GGAS_REG_ATU_TABLE1, GGAS_REG_ATU_TABLE2,
                                        GGAS_REG_ATU_TABLE3};
  for (unsigned c = 0; c < 4; ++c) {
    set(GGAS_REG_ATU_PIECE(c), table(c));
    set(tables[c], count_[c] | uint64_t{c} << GGAS_ATU_TABLE0_FIRST_SHIFT);
  }
}

void rma_driver::enter(uint64_t page, uint64_t bus) {
  if (!system_.owns(node_)) return;
  auto& memory = system_.memory(node_);
  memory.store<uint64_t>(table(0) + entry_bytes * page + 8, cluster_domain);
  memory.store<uint64_t>(table(0) + entry_bytes * page, bus | valid | readable | writable);
}

std::expected<void, std::string> rma_driver::open_small_pages() {
  set(GGAS_REG_ATU_TABLE0, small_pages);
  return invalidate(GGAS_ATU_INVALIDATE_EVERYTHING_MASK);
}

std::expected<void, std::string> rma_driver::drop(uint64_t first, uint64_t last) {
  for (uint64_t page = first; page <= last && system_.owns(node_); ++page)
    system_.memory(node_).store<uint64_t>(table(0) + entry_bytes * page, 0);
  set(GGAS_REG_ATU_LAST, last * small_page);
  return invalidate(GGAS_ATU_INVALIDATE_RANGE_MASK | first * small_page);
}

std::expected<void, std::string> rma_driver::invalidate(uint64_t request) {
  constexpr int most_reads = 10000;  // of some 1 us each
  set(GGAS_REG_ATU_INVALIDATE, request | GGAS_ATU_INVALIDATE_START_MASK);
  for (int i = 0; i < most_reads; ++i) {
    const auto status = system_.read_register(node_, GGAS_REG_ATU_STATUS);
    if (!status) return std::unexpected(status.error());
    if ((*status & GGAS_ATU_STATUS_BUSY_MASK) == 0) return {};
  }
  return std::unexpected("translations are still in use after " + std::to_string(most_reads) + " looks");
}

void rma_driver::enable(const context_plan& p, unsigned vpid, const queue_config& q, const areas& a) {
  const auto bus = [&](const context_plan::part& part) -> uint64_t {
    if (part.where == queue_config::place::none) return 0;
    return (part.where == queue_config::place::gpu ? a.gpu : a.host) + part.offset;
  };
  driver::set_context([this](uint16_t offset, uint64_t value) { set(offset, value); }, vpid,
                      {.notifications = bus(p.notifications),
                       .status = bus(p.status),
                       .mailbox = bus(p.mailbox),
                       .queue = bus(p.work_queue),
                       .notify_log2 = q.notify_log2,
                       .mailbox_log2 = q.mailbox_log2,
                       .queue_log2 = q.slots_log2,
                       .domain = cluster_domain,
                       .queued = p.work_queue.where != queue_config::place::none,
                       .backpressure = q.backpressure});
}

std::expected<void, std::string> rma_driver::finish() {
  const auto r = system_.read_register(node_, GGAS_REG_ATU_STATUS);
  if (!r) return std::unexpected(r.error());
  return {};
}

}  // namespace ggas::userlib
