// SPDX-License-Identifier: Apache-2.0
// Networks of switches for tests.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <random>
#include <string>

#include "sim/fabric/graph/graph.hpp"
#include "tests/sim/channels.hpp"

namespace ggas::test {

// A tree of switches with more cables between random ones, and one to three NICs at each.
inline fabric::graph random_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned n) { return unsigned(random() % n); };
  const unsigned switches = 4 + below(9);
  std::vector<unsigned> home;
  for (unsigned s = 0; s < switches; ++s) home.insert(home.end(), 1 + below(3), s);
  fabric::graph g(unsigned(home.size()), switches);
  for (unsigned n = 0; n < g.nics(); ++n) g.connect(g.nics() + home[n], n);
  for (unsigned s = 1; s < switches; ++s) g.connect(g.nics() + s, g.nics() + below(s));
  for (unsigned more = below(2 * switches); more > 0; --more)
    if (const unsigned a = below(switches), b = below(switches); a != b) g.connect(g.nics() + a, g.nics() + b);
  return g;
}

// As waits_of() takes a network.
struct of_switches {
  const fabric::graph& g;
  unsigned nodes() const { return g.nics(); }
  std::optional<fabric::end_of_link> across(unsigned at, unsigned port) const { return g.across(at, port); }
};
inline size_t channels_in_circles(const fabric::graph& g) {
  return channels_in_circles(waits_of(
      of_switches{g}, [&](unsigned at, unsigned to) { return std::optional(g.next(at, to)); },
      [](unsigned, unsigned) { return std::optional<fabric::route_step>(); }));
}

}  // namespace ggas::test
