// SPDX-License-Identifier: Apache-2.0
// Routing tables around dead links and nodes. Whole networks have those of topology.hpp. A broken network may have any
// shape, so there a packet goes up and then down a tree of the survivors (up*/down*, docs/network.md): without cycles
// in one lane, whatever is missing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/fabric/topology.hpp"

namespace ggas::fabric {

// Which links and nodes of a network are dead. A node that is dead has no links.
class damage {
 public:
  explicit damage(const topology& shape) : shape_(&shape), dead_links_(shape.nodes()), dead_nodes_(shape.nodes()) {}

  // The link at that port, at both of its ends.
  void set_link(unsigned node, unsigned port, bool dead);
  void set_node(unsigned node, bool dead) { dead_nodes_[node] = dead; }
  bool node(unsigned n) const { return dead_nodes_[n]; }
  bool any() const;
  // The other end of a port's link if both its nodes and the link are alive.
  std::optional<topology::end> across(unsigned node, unsigned port) const;
  bool operator==(const damage& other) const = default;

 private:
  const topology* shape_;
  std::vector<uint8_t> dead_links_;  // by node: bits of ports
  std::vector<bool> dead_nodes_;
};

class routes {
 public:
  // A line of a node's table.
  struct line {
    topology::step first;
    std::optional<topology::step> second;  // for packets that may pass others
    bool operator==(const line&) const = default;
  };

  routes(const topology& shape, const damage& dead);

  // From `at` towards `to`; nullopt: it cannot be reached, or is the node itself.
  std::optional<line> of(unsigned at, unsigned to) const;
  unsigned nodes() const { return shape_->nodes(); }

 private:
  using ports = std::array<uint8_t, 2>;  // of the first and of the second choice
  static constexpr uint8_t none = 0xff;

  const topology* shape_;
  std::vector<ports> ways_;  // by destination and node; empty: nothing is dead
};

}  // namespace ggas::fabric
