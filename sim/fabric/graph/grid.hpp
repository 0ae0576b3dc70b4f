// SPDX-License-Identifier: Apache-2.0
// Meshes and tori of any number of dimensions: who is whose neighbour, and the route dimension by dimension. In a ring
// a packet uses lane 0 as long as the dateline lies ahead, else lane 1, so channels have no cycle (docs/network.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ggas::fabric {

// One end of a link.
struct end_of_link {
  unsigned node, port;
  bool operator==(const end_of_link&) const = default;
};
// Where a packet leaves a node, and in which lane of its virtual channel.
struct route_step {
  unsigned port, lane;
  bool operator==(const route_step&) const = default;
};

// Whole numbers in "4x4x2"; empty: not of that form.
std::vector<unsigned> sizes_of(std::string_view text);

class grid {
 public:
  static constexpr size_t most_dimensions = 8;

  grid() = default;
  // Each size at least 2, their product at most 65,536. `wraps`: a torus, else a mesh.
  grid(std::vector<unsigned> sizes, bool wraps);

  unsigned nodes() const { return nodes_; }
  unsigned ports() const { return 2 * unsigned(size_.size()); }
  // Port 2 d leads up in dimension d, 2 d + 1 down; nullopt: it leads nowhere.
  std::optional<end_of_link> across(unsigned node, unsigned port) const;
  // Towards another node: dimension by dimension, the shorter way round.
  route_step next(unsigned at, unsigned to) const;
  // Another first step of a shortest route, for packets that may pass others; nullopt: there is none.
  std::optional<route_step> second(unsigned at, unsigned to) const;

 private:
  bool wraps(size_t dimension) const { return wraps_ && size_[dimension] > 2; }
  unsigned place(unsigned node, size_t dimension) const { return places_[node][dimension]; }
  // On towards `to` in a dimension in which it lies elsewhere, up or down.
  route_step along(size_t dimension, unsigned at, unsigned to, bool up) const;

  unsigned nodes_ = 1;
  bool wraps_ = false;
  std::vector<unsigned> size_, stride_;                        // node n has coordinate n / stride % size in a dimension
  std::vector<std::array<uint16_t, most_dimensions>> places_;  // those coordinates: divisions cost time at every hop
};

}  // namespace ggas::fabric
