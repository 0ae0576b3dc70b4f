// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/graph/grid.hpp"

#include <charconv>
#include <utility>

namespace ggas::fabric {

std::vector<unsigned> sizes_of(std::string_view text) {
  std::vector<unsigned> out;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();;) {
    unsigned value = 0;
    const auto [behind, error] = std::from_chars(at, end, value);
    if (error != std::errc{}) return {};
    out.push_back(value);
    if (behind == end) return out;
    if (*behind != 'x') return {};
    at = behind + 1;
  }
}

grid::grid(std::vector<unsigned> sizes, bool wraps) : wraps_(wraps), size_(std::move(sizes)) {
  for (const unsigned s : size_) {
    stride_.push_back(nodes_);
    nodes_ *= s;
  }
  places_.resize(nodes_);
  for (unsigned node = 0; node < nodes_; ++node)
    for (size_t d = 0; d < size_.size(); ++d) places_[node][d] = uint16_t(node / stride_[d] % size_[d]);
}

std::optional<end_of_link> grid::across(unsigned node, unsigned port) const {
  const size_t dimension = port / 2;
  if (dimension >= size_.size()) return std::nullopt;
  const unsigned step = stride_[dimension], size = size_[dimension], at = place(node, dimension);
  const bool up = port % 2 == 0;
  const bool border = up ? at + 1 == size : at == 0;
  if (border && !wraps(dimension)) return std::nullopt;
  const unsigned there = up ? (at + 1) % size : (at + size - 1) % size;
  return end_of_link{node - at * step + there * step, port ^ 1u};
}

// No packet in lane 1 ever crosses the dateline, which is between the last and the first node.
route_step grid::along(size_t dimension, unsigned at, unsigned to, bool up) const {
  const unsigned x = place(at, dimension), y = place(to, dimension);
  const bool dateline_ahead = up ? x > y : x < y;
  return {unsigned(2 * dimension) + !up, wraps(dimension) && !dateline_ahead ? 1u : 0u};
}

route_step grid::next(unsigned at, unsigned to) const {
  size_t dimension = 0;
  while (place(at, dimension) == place(to, dimension)) ++dimension;
  const unsigned size = size_[dimension], x = place(at, dimension), y = place(to, dimension);
  return along(dimension, at, to, wraps(dimension) ? 2 * ((y + size - x) % size) <= size : y > x);
}

// At half the length of a ring both directions are shortest. A later dimension may come first if it is no ring: next()
// leaves its lane 1 free. A packet there waits only for lanes that next() uses; packets in those lanes never wait for
// it.
std::optional<route_step> grid::second(unsigned at, unsigned to) const {
  size_t dimension = 0;
  while (place(at, dimension) == place(to, dimension)) ++dimension;
  const unsigned size = size_[dimension], x = place(at, dimension), y = place(to, dimension);
  if (wraps(dimension) && 2 * ((y + size - x) % size) == size) return along(dimension, at, to, false);
  for (++dimension; dimension < size_.size(); ++dimension)
    if (!wraps(dimension) && place(at, dimension) != place(to, dimension))
      return route_step{along(dimension, at, to, place(to, dimension) > place(at, dimension)).port, 1};
  return std::nullopt;
}

}  // namespace ggas::fabric
