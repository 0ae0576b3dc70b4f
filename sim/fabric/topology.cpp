// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "sim/fabric/graph/describe.hpp"

namespace ggas::fabric {

namespace {

constexpr unsigned max_nodes = 65'536;

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
  auto switches = describe_switches(t.name_);
  if (!switches) return fail(switches.error());
  if (*switches) {
    if ((*switches)->nics() != nodes) return fail(fmt::format("it has {} nodes", (*switches)->nics()));
    return over(std::move(**switches), t.name_);
  }
  const std::string_view name = t.name_;
  std::vector<unsigned> size{nodes};
  if (name != "ring") {
    const size_t colon = name.find(':');
    if (colon == name.npos || (name.substr(0, colon) != "mesh" && name.substr(0, colon) != "torus"))
      return fail(
          "expected auto, full, ring, mesh:AxB[xC], torus:AxB[xC], fat-tree:, leaf-spine:, dragonfly: or the name of a "
          "file (docs/open-networks.md)");
    size = sizes_of(name.substr(colon + 1));
    if (size.size() < 2 || size.size() > 3) return fail("expected two or three sizes, as in torus:4x4x2");
    for (const unsigned s : size)
      if (s < 2 || s > max_nodes) return fail("each size must be at least 2");
  }
  uint64_t product = 1;
  for (const unsigned s : size) product *= s;
  if (product != nodes) return fail(fmt::format("it has {} nodes", product));
  t.grid_ = grid(std::move(size), !name.starts_with("mesh"));
  t.ports_ = t.grid_.ports();
  return t;
}

topology topology::over(graph switches, std::string name) {
  topology t;
  t.name_ = std::move(name);
  t.nodes_ = switches.nics();
  t.ports_ = switches.ports_of_nics();
  t.switches_ = std::make_shared<const graph>(std::move(switches));
  return t;
}

// Full: port p leads to node p, or p + 1 from the own on.
std::optional<topology::end> topology::across(unsigned node, unsigned port) const {
  if (port >= ports_ || switches_) return std::nullopt;
  if (!full_) return grid_.across(node, port);
  const unsigned to = port < node ? port : port + 1;
  return end{to, node < to ? node : node - 1};
}

topology::step topology::next(unsigned at, unsigned to) const {
  if (switches_) return switches_->next(at, to);
  if (full_) return {to < at ? to : to - 1, 0};
  return grid_.next(at, to);
}

std::optional<topology::step> topology::second(unsigned at, unsigned to) const {
  if (full_ || switches_) return std::nullopt;
  return grid_.second(at, to);
}

unsigned topology::hops(unsigned from, unsigned to) const {
  if (switches_) return switches_->hops(from, to);
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
