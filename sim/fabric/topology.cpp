// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <map>

namespace ggas::fabric {

namespace {

constexpr unsigned max_nodes = 65'536;

// Sizes in "4x4x2"; empty: not of that form.
std::vector<unsigned> sizes(std::string_view text) {
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

// Three factors, none below 2, with the smallest sum; empty: there are none.
std::vector<unsigned> nearest_cube(unsigned nodes) {
  std::vector<unsigned> best;
  for (unsigned a = 2; a * a * a <= nodes; ++a)
    for (unsigned b = a; nodes % a == 0 && a * b * b <= nodes; ++b)
      if (nodes / a % b == 0) best = {nodes / a / b, b, a};  // the last one found has the largest a
  return best;
}

std::string automatic(unsigned nodes) {
  if (nodes <= max_ports + 1) return "full";
  const auto cube = nearest_cube(nodes);
  return cube.empty() ? "ring" : fmt::format("torus:{}", fmt::join(cube, "x"));
}

}  // namespace

std::expected<topology, std::string> topology::parse(std::string_view text, unsigned nodes) {
  const auto fail = [&](std::string_view rule) {
    return std::unexpected(fmt::format("topology '{}' of {} nodes: {}", text, nodes, rule));
  };
  if (nodes < 1 || nodes > max_nodes) return fail(fmt::format("1 to {} nodes are possible", max_nodes));
  topology t;
  t.name_ = text == "auto" ? automatic(nodes) : std::string(text);
  t.nodes_ = nodes;
  if (t.name_ == "full") {
    if (nodes > max_ports + 1)
      return fail(fmt::format("a NIC has {} links, so full joins {} nodes", max_ports, max_ports + 1));
    t.full_ = true;
    t.ports_ = nodes - 1;
    return t;
  }
  const std::string_view name = t.name_;
  if (name == "ring") {
    t.size_ = {nodes};
  } else {
    const size_t colon = name.find(':');
    if (colon == name.npos || (name.substr(0, colon) != "mesh" && name.substr(0, colon) != "torus"))
      return fail("expected auto, full, ring, mesh:AxB[xC] or torus:AxB[xC]");
    t.size_ = sizes(name.substr(colon + 1));
    if (t.size_.size() < 2 || t.size_.size() > 3) return fail("expected two or three sizes, as in torus:4x4x2");
    for (const unsigned s : t.size_)
      if (s < 2 || s > max_nodes) return fail("each size must be at least 2");
  }
  uint64_t product = 1;
  for (const unsigned s : t.size_) {
    t.stride_.push_back(unsigned(product));
    product *= s;
  }
  if (product != nodes) return fail(fmt::format("it has {} nodes", product));
  t.wraps_ = !name.starts_with("mesh");
  t.ports_ = 2 * unsigned(t.size_.size());
  t.places_.resize(nodes);
  for (unsigned node = 0; node < nodes; ++node)
    for (size_t d = 0; d < t.size_.size(); ++d) t.places_[node][d] = uint16_t(node / t.stride_[d] % t.size_[d]);
  return t;
}

// Ports of a grid: 2 d leads up in dimension d, 2 d + 1 down. Full: port p leads to node p, or p + 1 from the own on.
std::optional<topology::end> topology::across(unsigned node, unsigned port) const {
  if (port >= ports_) return std::nullopt;
  if (full_) {
    const unsigned to = port < node ? port : port + 1;
    return end{to, node < to ? node : node - 1};
  }
  const size_t dimension = port / 2;
  const unsigned step = stride_[dimension], size = size_[dimension], at = place(node, dimension);
  const bool up = port % 2 == 0;
  const bool border = up ? at + 1 == size : at == 0;
  if (border && !wraps(dimension)) return std::nullopt;
  const unsigned there = up ? (at + 1) % size : (at + size - 1) % size;
  return end{node - at * step + there * step, port ^ 1u};
}

// On a ring a packet uses lane 0 as long as the dateline, between the last and the first node, lies ahead, else lane 1:
// no packet in lane 1 ever crosses it.
topology::step topology::along(size_t dimension, unsigned at, unsigned to, bool up) const {
  const unsigned x = place(at, dimension), y = place(to, dimension);
  const bool dateline_ahead = up ? x > y : x < y;
  return {unsigned(2 * dimension) + !up, wraps(dimension) && !dateline_ahead ? 1u : 0u};
}

// Dimension by dimension, the shorter way round.
topology::step topology::next(unsigned at, unsigned to) const {
  if (full_) return {to < at ? to : to - 1, 0};
  size_t dimension = 0;
  while (place(at, dimension) == place(to, dimension)) ++dimension;
  const unsigned size = size_[dimension], x = place(at, dimension), y = place(to, dimension);
  return along(dimension, at, to, wraps(dimension) ? 2 * ((y + size - x) % size) <= size : y > x);
}

// Half way round a ring both directions are shortest. A later dimension may come first if it is no ring: next() leaves
// its lane 1 free, and a packet there waits for lanes that next() names, never the other way round.
std::optional<topology::step> topology::second(unsigned at, unsigned to) const {
  if (full_) return std::nullopt;
  size_t dimension = 0;
  while (place(at, dimension) == place(to, dimension)) ++dimension;
  const unsigned size = size_[dimension], x = place(at, dimension), y = place(to, dimension);
  if (wraps(dimension) && 2 * ((y + size - x) % size) == size) return along(dimension, at, to, false);
  for (++dimension; dimension < size_.size(); ++dimension)
    if (!wraps(dimension) && place(at, dimension) != place(to, dimension))
      return step{along(dimension, at, to, place(to, dimension) > place(at, dimension)).port, 1};
  return std::nullopt;
}

unsigned topology::hops(unsigned from, unsigned to) const {
  unsigned n = 0;
  for (; from != to; ++n) from = across(from, next(from, to).port)->node;
  return n;
}

std::vector<group_line> topology::tree(unsigned root, std::span<const unsigned> members) const {
  std::map<std::pair<unsigned, unsigned>, group_line> lines;  // by node and lane
  for (const unsigned member : members) {
    if (member == root) continue;
    end at{root, own_units};
    for (unsigned lane = 0;;) {
      group_line& line = lines[{at.node, lane}];
      line.node = at.node, line.lane = lane, line.port = at.port;
      if (at.node == member) {
        line.member = true;
        break;
      }
      const step s = next(at.node, member);
      line.branches |= group_line::branch(s.port, s.lane);
      at = *across(at.node, s.port);
      lane = s.lane;
    }
  }
  std::vector<group_line> out;
  for (const auto& [where, line] : lines) out.push_back(line);
  return out;
}

}  // namespace ggas::fabric
