// SPDX-License-Identifier: Apache-2.0
// Tables for a network of any shape (docs/open-networks.md#routes).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/fabric/graph/graph.hpp"

namespace ggas::fabric {

// Which channel (cable and lane) waits for which: a packet in the buffer after one waits for room after the next.
class waits_of_channels {
 public:
  explicit waits_of_channels(const graph& g);
  // The waits of all packets to a NIC by the graph's tables; false and no change if there is a cycle then.
  bool add(unsigned nic);
  // The cycle that the last add() has found: "A -> B -> C -> A".
  const std::string& cycle() const { return cycle_; }

 private:
  unsigned channel(unsigned vertex, const route_step& s) const {
    return first_[vertex] + graph::lanes * s.port + s.lane;
  }
  std::vector<std::pair<unsigned, unsigned>> waits_to(unsigned nic) const;
  bool finds_cycle(const std::vector<std::pair<unsigned, unsigned>>& from);
  bool reaches_itself(unsigned start);
  void describe(const std::vector<unsigned>& path, unsigned again);

  const graph& graph_;
  std::vector<unsigned> first_;               // by vertex: its first channel
  std::vector<unsigned> vertex_;              // by channel: where it begins
  std::vector<std::vector<unsigned>> after_;  // by channel
  std::vector<uint8_t> state_;                // of the search, by channel
  std::string cycle_;
};

// Fills the tables of a graph. It takes shortest routes, and the least loaded among equal ones. All packets to a NIC
// stay in one lane. NICs are assigned to the lanes one by one such that no lane has a cycle. If that does not succeed,
// up*/down* routing is used.
class router {
 public:
  explicit router(graph& g) : graph_(g) {}
  std::expected<void, std::string> find(routing how);

 private:
  bool layered();
  void up_and_down();
  void choose(unsigned nic, const std::vector<std::vector<unsigned>>& steps, const std::vector<unsigned>& order);
  void shortest_to(unsigned nic);
  void set_lane(unsigned nic, unsigned lane);

  graph& graph_;
  std::vector<std::vector<uint64_t>> load_;  // by vertex and port: pairs of NICs
  std::string cycle_;
};

}  // namespace ggas::fabric
