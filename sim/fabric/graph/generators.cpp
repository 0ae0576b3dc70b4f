// SPDX-License-Identifier: Apache-2.0
#include "sim/fabric/graph/generators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ggas::fabric {

namespace {

std::unexpected<std::string> fail(std::string rule) { return std::unexpected(std::move(rule)); }

// The product, or too many.
uint64_t product(std::span<const unsigned> of) {
  uint64_t all = 1;
  for (const unsigned f : of) all = std::min<uint64_t>(all * f, uint64_t{graph::most_vertices} + 1);
  return all;
}

made_graph with_room(uint64_t nics, uint64_t switches) {
  if (nics + switches > graph::most_vertices)
    return fail(fmt::format("it has more than {} NICs and switches", graph::most_vertices));
  return graph(unsigned(nics), unsigned(switches));
}

// Switch after switch; they are the first cables of each.
void connect_nics(graph& g, unsigned nics_of_switch) {
  for (unsigned n = 0; n < g.nics(); ++n) g.connect(g.nics() + n / nics_of_switch, n);
}

}  // namespace

// The switches of a level have numbers of levels - 1 digits to the base `arity`. Those of neighbouring levels are
// connected if their numbers differ in the digit of the lower level alone. Each NIC has one route down from each root,
// and its digits choose the root, so packets to different NICs of a shift share no cable.
made_graph fat_tree(unsigned arity, unsigned levels) {
  if (arity < 2) return fail("an arity of at least 2");
  if (levels < 1 || levels > 16) return fail("1 to 16 levels");
  const std::vector<unsigned> digits(levels, arity);
  const uint64_t nics = product(digits), of_level = product(std::span(digits).first(levels - 1));
  auto made = with_room(nics, of_level * levels);
  if (!made) return made;
  graph& g = *made;
  connect_nics(g, arity);
  const auto at = [&](unsigned level, unsigned number) { return g.nics() + unsigned(of_level) * level + number; };
  unsigned digit = 1;  // of the lower level: arity^level
  for (unsigned level = 0; level < levels; ++level, digit *= arity)
    for (unsigned number = 0; number < of_level; ++number) {
      g.name(at(level, number), fmt::format("level {} switch {}", level, number));
      g.spread(at(level, number), digit);
      for (unsigned up = 0; level + 1 < levels && up < arity; ++up)
        g.connect(at(level, number), at(level + 1, number - number / digit % arity * digit + up * digit));
    }
  return made;
}

made_graph leaf_spine(unsigned leaves, unsigned spines, unsigned nics_of_leaf) {
  if (leaves < 1 || spines < 1 || nics_of_leaf < 1) return fail("at least one leaf, spine and NIC of each leaf");
  auto made = with_room(uint64_t{leaves} * nics_of_leaf, uint64_t{leaves} + spines);
  if (!made) return made;
  graph& g = *made;
  connect_nics(g, nics_of_leaf);
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    g.name(g.nics() + leaf, fmt::format("leaf {}", leaf));
    g.spread(g.nics() + leaf, 1);
    for (unsigned spine = 0; spine < spines; ++spine) g.connect(g.nics() + leaf, g.nics() + leaves + spine);
  }
  for (unsigned spine = 0; spine < spines; ++spine) g.name(g.nics() + leaves + spine, fmt::format("spine {}", spine));
  return made;
}

// A group's global cables lead to the other groups in turn. A packet is in lane 0 in its own group and on the cable
// between groups, and in lane 1 in the last group. So it never waits for a lane that it has left.
made_graph dragonfly(unsigned switches, unsigned global, unsigned nics_of_switch, unsigned groups) {
  if (switches < 1 || global < 1 || nics_of_switch < 1)
    return fail("at least one switch of a group, global cable and NIC of each switch");
  const uint64_t slots = uint64_t{switches} * global;
  const uint64_t all = groups != 0 ? groups : std::min<uint64_t>(slots + 1, graph::most_vertices);
  if (all < 2 || all > slots + 1) return fail(fmt::format("2 to {} groups", slots + 1));
  if (slots % (all - 1) != 0)
    return fail(fmt::format("{} global cables of a group are not divisible by {} other groups", slots, all - 1));
  auto made = with_room(all * switches * nics_of_switch, all * switches);
  if (!made) return made;
  graph& g = *made;
  const auto others = unsigned(all - 1), several = unsigned(slots / others);  // cables between two groups
  const auto at = [&](unsigned group, unsigned number) { return g.nics() + group * switches + number; };
  const auto port_of_local = [&](unsigned from, unsigned to) { return nics_of_switch + to - (to > from); };
  const auto slot = [&](unsigned from, unsigned to, unsigned which) { return which * others + to - (to > from); };
  const auto owner = [&](unsigned of_slot) { return of_slot / global; };
  connect_nics(g, nics_of_switch);
  for (unsigned group = 0; group < all; ++group)
    for (unsigned s = 0; s < switches; ++s) {
      g.name(at(group, s), fmt::format("group {} switch {}", group, s));
      for (unsigned other = s + 1; other < switches; ++other) g.connect(at(group, s), at(group, other));
    }
  // By slot, so that the global cables of each switch have the order of its slots.
  std::vector<std::vector<unsigned>> port(all, std::vector<unsigned>(slots));
  for (unsigned from = 0; from < all; ++from)
    for (unsigned to = from + 1; to < all; ++to)
      for (unsigned which = 0; which < several; ++which) {
        const unsigned here = slot(from, to, which), there = slot(to, from, which);
        const unsigned a = at(from, owner(here)), b = at(to, owner(there));
        port[from][here] = g.ports(a);
        port[to][there] = g.ports(b);
        g.connect(a, b);
      }
  for (unsigned nic = 0; nic < g.nics(); ++nic) {
    const unsigned home = nic / nics_of_switch, to = home / switches;
    for (unsigned n = 0; n < g.nics(); ++n) g.set_next(n, nic, {0, 0});
    for (unsigned group = 0; group < all; ++group)
      for (unsigned s = 0; s < switches; ++s) {
        const unsigned v = at(group, s);
        if (group == to) {
          const bool there = s == home % switches;
          g.set_next(v, nic, {there ? nic % nics_of_switch : port_of_local(s, home % switches), !there});
          continue;
        }
        const unsigned out = slot(group, to, nic % several);
        const bool gateway = owner(out) == s;
        g.set_next(v, nic, {gateway ? port[group][out] : port_of_local(s, owner(out)), 0});
      }
  }
  g.routes("shortest by one cable between groups, 2 lanes");
  return made;
}

made_graph grid_of_switches(std::vector<unsigned> sizes, bool wraps, unsigned nics_of_switch) {
  const uint64_t all = product(sizes);
  auto made = with_room(all * nics_of_switch, all);
  if (!made) return made;
  graph& g = *made;
  const grid places(std::move(sizes), wraps);
  connect_nics(g, nics_of_switch);
  // Ports of the grid, in which some may be missing at the border of a mesh.
  std::vector<std::vector<unsigned>> port(places.nodes(), std::vector<unsigned>(places.ports()));
  for (unsigned v = 0; v < places.nodes(); ++v)
    for (unsigned p = 0; p < places.ports(); p += 2)
      if (const auto there = places.across(v, p)) {
        port[v][p] = g.ports(g.nics() + v);
        port[there->node][there->port] = g.ports(g.nics() + there->node);
        g.connect(g.nics() + v, g.nics() + there->node);
      }
  for (unsigned nic = 0; nic < g.nics(); ++nic) {
    const unsigned home = nic / nics_of_switch;
    for (unsigned n = 0; n < g.nics(); ++n) g.set_next(n, nic, {0, 0});
    for (unsigned v = 0; v < places.nodes(); ++v) {
      const route_step s = v == home ? route_step{} : places.next(v, home);
      g.set_next(g.nics() + v, nic,
                 v == home ? route_step{nic % nics_of_switch, 0} : route_step{port[v][s.port], s.lane});
    }
  }
  g.routes("dimension by dimension, 2 lanes");
  return made;
}

}  // namespace ggas::fabric
