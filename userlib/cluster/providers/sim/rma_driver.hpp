// SPDX-License-Identifier: Apache-2.0
// Set-up of one-sided communication by a driver (docs/rma.md): translation tables, contexts. By register writes of the
// node's processor.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "sim/system.hpp"
#include "userlib/cluster/providers/sim/layout.hpp"

namespace ggas::userlib {

class rma_driver {
 public:
  // Tables lie in host memory of the node from sim::translation_base on.
  rma_driver(sim::system& s, unsigned node) : system_(s), node_(node) {}

  // Registers memory for put and get, read and write, in pages of that class; returns its network logical address.
  uint64_t map(uint64_t bus, uint64_t bytes, unsigned page_class);
  // Informs the NIC of the tables. All memory has been mapped.
  void set_tables();

  // The table of 4 KB pages, which programs fill (cluster::map_memory). open: the NIC knows all of it.
  static constexpr uint64_t small_pages = 65536, small_page = 4096;
  std::expected<void, std::string> open_small_pages();
  void enter(uint64_t page, uint64_t bus);
  // Pages first ... last. No access by them is under way any more.
  std::expected<void, std::string> drop(uint64_t first, uint64_t last);

  // Bus addresses of the areas a plan refers to.
  struct areas {
    uint64_t gpu, host;
  };
  void enable(const context_plan& p, unsigned vpid, const queue_config& q, const areas& a);
  // Everything written so far has reached the NIC.
  std::expected<void, std::string> finish();

 private:
  std::expected<void, std::string> invalidate(uint64_t request);
  void set(unsigned offset, uint64_t value) { system_.write_register(node_, uint16_t(offset), value); }

  sim::system& system_;
  unsigned node_;
  uint32_t count_[4] = {};  // entries of each class
};

}  // namespace ggas::userlib
