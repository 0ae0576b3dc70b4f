// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/routes.hpp"

#include <algorithm>
#include <utility>

#include "sim/fabric/graph/up_down.hpp"

namespace ggas::fabric {

void damage::set_link(unsigned node, unsigned port, bool dead) {
  const auto set = [&](const topology::end& e) {
    const auto bit = uint8_t(1u << e.port);
    dead_links_[e.node] = uint8_t(dead ? dead_links_[e.node] | bit : dead_links_[e.node] & ~bit);
  };
  const auto there = shape_->across(node, port);
  if (!there) return;
  set({node, port});
  set(*there);
}

bool damage::any() const {
  return std::ranges::any_of(dead_links_, [](uint8_t bits) { return bits != 0; }) ||
         std::ranges::find(dead_nodes_, true) != dead_nodes_.end();
}

std::optional<topology::end> damage::across(unsigned node, unsigned port) const {
  const auto there = shape_->across(node, port);
  if (!there || dead_links_[node] >> port & 1 || dead_nodes_[node] || dead_nodes_[there->node]) return std::nullopt;
  return there;
}

// Among first steps that are equally short the lowest port is the first choice, and the next one is the second choice.
routes::routes(const topology& shape, const damage& dead) : shape_(&shape) {
  if (!dead.any()) return;
  std::vector<std::vector<up_down::link>> links(nodes());
  std::vector<bool> absent(nodes());
  for (unsigned n = 0; n < nodes(); ++n) {
    absent[n] = dead.node(n);
    for (unsigned port = 0; port < shape.ports(); ++port)
      if (const auto there = dead.across(n, port)) links[n].push_back({port, there->node});
  }
  const up_down tree(std::move(links), absent);
  ways_.assign(size_t{nodes()} * nodes(), {none, none});
  for (const unsigned to : tree.by_rank()) {
    const auto steps = tree.towards(to);
    for (unsigned n = 0; n < nodes(); ++n)
      for (size_t choice = 0; choice < std::min<size_t>(steps[n].size(), 2); ++choice)
        ways_[size_t{to} * nodes() + n][choice] = uint8_t(steps[n][choice]);
  }
}

std::optional<routes::line> routes::of(unsigned at, unsigned to) const {
  if (at == to) return std::nullopt;
  if (ways_.empty()) return line{shape_->next(at, to), shape_->second(at, to)};
  const ports& way = ways_[size_t{to} * nodes() + at];
  if (way[0] == none) return std::nullopt;
  line l{{way[0], 0}, std::nullopt};
  if (way[1] != none) l.second = topology::step{way[1], 0};
  return l;
}

}  // namespace ggas::fabric
