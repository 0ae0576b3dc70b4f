// SPDX-License-Identifier: Apache-2.0
// Whether packets on their ways through a network may wait for each other in a circle.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/fabric/topology.hpp"

namespace ggas::test {

// Checks that a packet's place (in the buffer after a link and lane) never waits for itself: follows every route, with
// each second choice on it, and records the order of channels. A packet may always leave by its first choice, so only
// that one counts as a wait. first and second return the step from a node to another one, or nullopt.
using channel = std::tuple<unsigned, unsigned, unsigned>;  // node, port, lane
using waits = std::map<channel, std::set<channel>>;
template <class Network, class First, class Second>
waits waits_of(const Network& t, First first, Second second) {
  using place = std::pair<unsigned, std::optional<channel>>;  // a node, and the channel by which it was reached
  waits behind;
  for (unsigned to = 0; to < t.nodes(); ++to) {
    std::set<place> seen;
    std::vector<place> left;
    for (unsigned from = 0; from < t.nodes(); ++from) left.push_back({from, std::nullopt});
    while (!left.empty()) {
      const place p = left.back();
      left.pop_back();
      if (p.first == to || !seen.insert(p).second) continue;
      const auto go = [&](const fabric::topology::step& s) {
        const channel c{p.first, s.port, s.lane};
        behind[c];
        left.push_back({t.across(p.first, s.port)->node, c});
        return c;
      };
      const std::optional<fabric::topology::step> way = first(p.first, to);
      if (!way) continue;
      const channel waited_for = go(*way);
      if (p.second) behind[*p.second].insert(waited_for);
      if (const auto also = second(p.first, to)) go(*also);
    }
  }
  return behind;
}

// Channels that nothing comes after are taken away until none is left.
inline size_t channels_in_circles(waits behind) {
  for (bool progress = true; progress && !behind.empty();) {
    progress = false;
    for (auto it = behind.begin(); it != behind.end();) {
      std::erase_if(it->second, [&](const channel& c) { return !behind.contains(c); });
      const bool done = it->second.empty();
      it = done ? behind.erase(it) : std::next(it);
      progress |= done;
    }
  }
  return behind.size();
}

// First choices are computed for the whole network.
template <class Second>
waits waits_of(const fabric::topology& t, Second second) {
  return waits_of(
      t, [&](unsigned at, unsigned to) { return std::optional(t.next(at, to)); }, second);
}

}  // namespace ggas::test
