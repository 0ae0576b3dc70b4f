// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include "tests/rtl/harness/rma_traffic.hpp"
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {

// What stands after the pins: the RTL of a width, or the reference model.
struct device {
  unsigned width = 64;
  bool model = false;
  friend void PrintTo(const device& d, std::ostream* os) {
    *os << (d.model ? "model" : std::to_string(d.width) + " bit");
  }
};
inline std::vector<device> rma_devices() { return {{64, true}, {64}, {256}}; }

// A rig with tables and contexts on both sides.
struct rma_world {
  explicit rma_world(const device& d, rig_config c = {.behaviour = fast_host(), .seed = base_seed()})
      : r([&] {
          c.width = d.width;
          c.model = d.model;
          return c;
        }()),
        driver(r) {}

  bool set_up(unsigned mtu_code = 2, unsigned retry_limit = 0) {
    if (!r.set_up()) return false;
    start(mtu_code, retry_limit);
    return true;
  }
  // Tables and units, on a rig that is up.
  void start(unsigned mtu_code = 2, unsigned retry_limit = 0) {
    driver.set_up(rma_traffic::table_entries, mtu_code, 1, retry_limit);
    for (auto& x : r.s) x.board->one_sided = true;
  }
  rma_user& user(const user_config& c) {
    users.push_back(std::make_unique<rma_user>(r, c, r.cfg.seed));
    users.back()->enable();
    return *users.back();
  }
  void pump() {
    for (auto& u : users) u->pump();
  }
  // Until every user's descriptors are remotely complete; false after `limit` cycles.
  bool finish(uint64_t limit = 300'000) {
    const bool done = r.run_until(
        [&] {
          pump();
          return std::ranges::all_of(users, [](const auto& u) { return u->done(); });
        },
        limit, "one-sided operations");
    for (unsigned i = 0; i < 200; ++i) {
      r.step();
      pump();
    }
    return done;
  }
  // Bus address of a network logical address, by the table in memory.
  uint64_t bus(unsigned side, uint64_t address) const {
    const unsigned cls = address >> 46 & 3;
    const uint64_t offset = address & ((uint64_t{1} << 46) - 1), page = uint64_t{1} << page_shifts[cls];
    const uint64_t entry = rma_tables + cls * 0x100'0000ull + 16 * (offset / page);
    return (r.s[side].host->mem.load64(entry) & ~(page - 1)) | offset % page;
  }
  uint8_t load(unsigned side, uint64_t address) const { return r.s[side].host->mem.load8(bus(side, address)); }
  uint64_t load64(unsigned side, uint64_t address) const { return r.s[side].host->mem.load64(bus(side, address)); }
  void store64(unsigned side, uint64_t address, uint64_t v) {
    r.s[side].host->mem.store32(bus(side, address), uint32_t(v), 15);
    r.s[side].host->mem.store32(bus(side, address) + 4, uint32_t(v >> 32), 15);
  }

  rig r;
  rma_driver driver;
  std::vector<std::unique_ptr<rma_user>> users;
};

// Two contexts, one on each side, whose traffic must not be affected by the test. Numbers and domain differ from any
// other in more than one bit.
struct bystanders {
  static constexpr uint16_t domain = 0xA5A5;
  bystanders(rma_world& w, uint64_t seed)
      : users{&w.user({.side = 0, .vpid = 0x3c, .pd = domain, .notify_log2 = 10, .mailbox_log2 = 6}),
              &w.user({.side = 1, .vpid = 0xc3, .pd = domain, .queue = true, .notify_log2 = 10, .mailbox_log2 = 6})},
        traffic(w.r, w.driver, users, {.bad = 0, .max_bytes = 500}, seed) {}
  // More work whenever half of the last was done.
  void keep_busy() {
    for (const rma_user* u : users)
      if (!u->all_written()) return;
    traffic.make(20);
  }
  std::vector<rma_user*> users;
  rma_traffic traffic;
};

}  // namespace ggas::test
