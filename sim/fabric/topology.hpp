// SPDX-License-Identifier: Apache-2.0
// The connections between nodes, and the routes of packets. A route depends only on the present node and the
// destination, as in a table of each node. With their lanes, the channels of all routes have no cycle, for any second
// choices (docs/network.md).
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fabric/graph/graph.hpp"
#include "sim/fabric/graph/grid.hpp"

namespace ggas::fabric {

// Links a NIC has at most (docs/nic-model.md).
inline constexpr unsigned max_ports = graph::most_links_of_nic;
// In the place of a port: the units of the node (register MULTICAST).
inline constexpr unsigned own_units = 7;

// Groups of a NIC with several links, which are for as many nodes.
inline constexpr unsigned groups = 64;

// Where packets for a group go on from a node: a line of its table (docs/network.md#multicast).
struct group_line {
  unsigned node = 0, lane = 0;  // that they come in
  unsigned port = own_units;    // that they must come by
  bool member = false;          // the node's units get a copy
  uint16_t branches = 0;        // bit 2 * port + lane each
  static constexpr uint16_t branch(unsigned port, unsigned lane) { return uint16_t(1u << (2 * port + lane)); }
};

class topology {
 public:
  using end = end_of_link;
  using step = route_step;

  // `text`: "full" (a link between each two nodes), "ring", "mesh:AxB", "mesh:AxBxC", "torus:AxB", "torus:AxBxC", or
  // "auto": full up to 7 nodes, beyond that the torus of three dimensions that is nearest to a cube, or a ring if there
  // is no such torus. It may also be a network of switches, as for describe_switches(). The error names the text, the
  // number of nodes and the rule.
  static std::expected<topology, std::string> parse(std::string_view text, unsigned nodes);
  // The topology of a network of switches that has its tables.
  static topology over(graph switches, std::string name);

  unsigned nodes() const { return nodes_; }
  // Switches between the NICs; nullptr: NICs are connected to each other. With them no port leads to another NIC, and
  // next() is the cable by which a NIC sends.
  const graph* switches() const { return switches_.get(); }
  unsigned ports() const { return ports_; }  // of the node with the most; some may lead nowhere
  // That a NIC is built with: with switches it needs a table of routes, which a NIC with one link lacks.
  unsigned links_of_nic() const { return switches_ && ports_ < 2 ? 2 : ports_; }
  // The other end of a port's link; nullopt: the port leads nowhere.
  std::optional<end> across(unsigned node, unsigned port) const;
  // The next hop from `at` towards `to`, which is another node.
  step next(unsigned at, unsigned to) const;
  // Another first step of a shortest way, for packets that may pass others; nullopt: there is none.
  std::optional<step> second(unsigned at, unsigned to) const;
  unsigned hops(unsigned from, unsigned to) const;
  // The lines of a group to which only `root` sends: copies take the same links and lanes as packets from `root` to
  // each member, so that they keep their order with those packets.
  std::vector<group_line> tree(unsigned root, std::span<const unsigned> members) const;
  const std::string& name() const { return name_; }  // as parse() takes it, "auto" resolved

 private:
  std::string name_;
  unsigned nodes_ = 1, ports_ = 0;
  bool full_ = false;
  grid grid_;  // unless it is full
  std::shared_ptr<const graph> switches_;
};

}  // namespace ggas::fabric
