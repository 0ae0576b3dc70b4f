// SPDX-License-Identifier: Apache-2.0
// Set-up of collectives of all nodes by a driver (docs/coll.md): a tree along the links, group 0 of every NIC. By
// register writes of the nodes' processors.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "sim/fabric/topology.hpp"
#include "sim/system.hpp"

namespace ggas::userlib {

// Parent and children of each node; node 0 is the root. Neighbours, as far as no process has more than four children.
struct coll_tree {
  explicit coll_tree(const fabric::topology& shape);
  std::vector<unsigned> parent;
  std::vector<std::vector<unsigned>> children;

 private:
  unsigned deepest_last(unsigned node);
  void adopt(unsigned up, unsigned node, std::vector<unsigned>& order);
  std::vector<bool> joined_;
};

class coll_driver {
 public:
  static constexpr unsigned group = 0, owner = 0, block = 0;

  // Results and flag of every node go to that bus address, 1 KB aligned.
  coll_driver(sim::system& s, uint64_t result_bus) : system_(s), result_bus_(result_bus), tree_(s.topology()) {}
  // Whether the NICs have the unit.
  std::expected<bool, std::string> built();
  // The group of all nodes from zero, in a new epoch. One that runs is stopped before: nothing of it comes any more.
  std::expected<void, std::string> start();

 private:
  std::expected<void, std::string> stop(unsigned node);
  uint64_t control(unsigned node) const;

  sim::system& system_;
  uint64_t result_bus_;
  coll_tree tree_;
  uint8_t epoch_ = 0;
};

}  // namespace ggas::userlib
