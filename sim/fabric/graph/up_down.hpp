// SPDX-License-Identifier: Apache-2.0
// Routes up and then down a tree (up*/down*, docs/network.md#around-what-is-dead) in a network of any shape: without
// cycles in one lane, whatever is missing.
#pragma once

#include <cstdint>
#include <vector>

namespace ggas::fabric {

class up_down {
 public:
  static constexpr unsigned far = ~0u;
  struct link {
    unsigned port, to;
  };
  // By node: its links, by port. `absent`: nodes that have no routes; they have no links.
  explicit up_down(std::vector<std::vector<link>> links, const std::vector<bool>& absent = {});

  // For each node the ports of the first steps towards `to` that may be used and are equally short, the lowest first.
  // Empty if `to` cannot be reached, or for the node `to` itself.
  std::vector<std::vector<unsigned>> towards(unsigned to) const;
  // Nodes that have routes, by rank: their distance from the root of their part, then their number.
  const std::vector<unsigned>& by_rank() const { return by_rank_; }

 private:
  unsigned nodes() const { return unsigned(links_.size()); }
  std::vector<unsigned> distances(unsigned from) const;
  unsigned centre_of(const std::vector<unsigned>& part) const;
  bool up(unsigned from, unsigned to) const { return rank_[to] < rank_[from]; }
  std::vector<unsigned> steps_down(unsigned to) const;

  std::vector<std::vector<link>> links_;
  std::vector<unsigned> rank_, by_rank_;
};

}  // namespace ggas::fabric
