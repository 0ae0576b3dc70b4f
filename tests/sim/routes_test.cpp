// SPDX-License-Identifier: Apache-2.0
// Tables around dead links and nodes: every two nodes connected by living links reach each other, no packet loops, and
// the channels have no cycle. Every single dead link and node of the networks of sim.shapes, every pair in small ones,
// and random failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "sim/fabric/routes.hpp"
#include "tests/sim/channels.hpp"

namespace ggas::test::routes_test {
namespace {

using fabric::damage;
using fabric::routes;
using fabric::topology;

struct shape {
  const char* text;
  unsigned nodes;
};
void PrintTo(const shape& s, std::ostream* os) { *os << s.text << " of " << s.nodes; }

struct link {
  unsigned node, port;
};

class broken : public testing::TestWithParam<shape> {
 protected:
  std::vector<link> links() const {
    std::vector<link> out;
    for (unsigned n = 0; n < t.nodes(); ++n)
      for (unsigned p = 0; p < t.ports(); ++p)
        if (const auto there = t.across(n, p); there && n < there->node) out.push_back({n, p});
    return out;
  }
  // Nodes that living links join to `from`.
  std::vector<bool> joined(const damage& dead, unsigned from) const {
    std::vector<bool> seen(t.nodes());
    seen[from] = true;
    for (std::vector<unsigned> left{from}; !left.empty();) {
      const unsigned n = left.back();
      left.pop_back();
      for (unsigned p = 0; p < t.ports(); ++p)
        if (const auto there = dead.across(n, p); there && !seen[there->node]) {
          seen[there->node] = true;
          left.push_back(there->node);
        }
    }
    return seen;
  }
  void expect_ways(const damage& dead, const routes& r) const {
    for (unsigned from = 0; from < t.nodes(); ++from) {
      const auto near = joined(dead, from);
      for (unsigned to = 0; to < t.nodes(); ++to) {
        if (from == to) continue;
        ASSERT_EQ(r.of(from, to).has_value(), near[to] && !dead.node(from)) << from << " to " << to;
        for (const bool by_second : {false, true}) {
          unsigned at = from, hops = 0;
          for (; near[to] && at != to && hops <= t.nodes(); ++hops) {
            const auto line = r.of(at, to);
            ASSERT_TRUE(line) << "a way from " << from << " to " << to << " ends at " << at;
            const auto step = by_second && line->second ? *line->second : line->first;
            const auto there = dead.across(at, step.port);
            ASSERT_TRUE(there) << "node " << at << " sends what is for " << to << " into a dead link";
            ASSERT_LT(step.lane, 2u);
            at = there->node;
          }
          ASSERT_LE(hops, t.nodes()) << "from " << from << " to " << to << " is a loop";
        }
      }
    }
    const auto first = [&](unsigned at, unsigned to) {
      const auto l = r.of(at, to);
      return l ? std::optional(l->first) : std::nullopt;
    };
    const auto second = [&](unsigned at, unsigned to) {
      const auto l = r.of(at, to);
      return l ? l->second : std::nullopt;
    };
    ASSERT_EQ(channels_in_circles(waits_of(t, first, second)), 0u);
  }
  void expect_ways(const damage& dead) const { expect_ways(dead, routes(t, dead)); }

  topology t = *topology::parse(GetParam().text, GetParam().nodes);
};
std::string name_of(const testing::TestParamInfo<shape>& i) {
  std::string name = i.param.text;
  std::ranges::replace(name, ':', '_');
  return name + "_" + std::to_string(i.param.nodes);
}
constexpr shape small[] = {{"full", 2},        {"full", 7},        {"ring", 2},       {"ring", 3},
                           {"ring", 4},        {"ring", 9},        {"mesh:2x2", 4},   {"mesh:4x3", 12},
                           {"torus:2x2", 4},   {"torus:4x4", 16},  {"torus:5x3", 15}, {"torus:2x7", 14},
                           {"torus:2x2x2", 8}, {"torus:4x2x2", 16}};
constexpr shape large[] = {{"mesh:3x3x3", 27}, {"torus:3x3x3", 27}, {"torus:4x3x5", 60}, {"torus:4x4x4", 64}};
INSTANTIATE_TEST_SUITE_P(small, broken, testing::ValuesIn(small), name_of);
INSTANTIATE_TEST_SUITE_P(large, broken, testing::ValuesIn(large), name_of);
class broken_twice : public broken {};
INSTANTIATE_TEST_SUITE_P(small, broken_twice, testing::ValuesIn(small), name_of);

TEST_P(broken, a_whole_network_keeps_its_tables) {
  const routes r(t, damage(t));
  for (unsigned at = 0; at < t.nodes(); ++at)
    for (unsigned to = 0; to < t.nodes(); ++to) {
      if (at == to) continue;
      const auto line = r.of(at, to);
      ASSERT_TRUE(line);
      EXPECT_EQ(line->first, t.next(at, to));
      EXPECT_EQ(line->second, t.second(at, to));
    }
}

TEST_P(broken, every_dead_link) {
  for (const link& l : links()) {
    damage dead(t);
    dead.set_link(l.node, l.port, true);
    expect_ways(dead);
    if (HasFatalFailure()) FAIL() << "without the link at node " << l.node << ", port " << l.port;
  }
}

TEST_P(broken, every_dead_node) {
  for (unsigned n = 0; n < t.nodes(); ++n) {
    damage dead(t);
    dead.set_node(n, true);
    expect_ways(dead);
    if (HasFatalFailure()) FAIL() << "without node " << n;
  }
}

TEST_P(broken_twice, every_two_dead_links) {
  const auto all = links();
  for (size_t a = 0; a < all.size(); ++a)
    for (size_t b = a + 1; b < all.size(); ++b) {
      damage dead(t);
      dead.set_link(all[a].node, all[a].port, true);
      dead.set_link(all[b].node, all[b].port, true);
      expect_ways(dead);
      if (HasFatalFailure()) FAIL() << "without links " << a << " and " << b;
    }
}

TEST_P(broken, random_ruins) {
  std::mt19937 random(7);
  const auto all = links();
  for (unsigned turn = 0; turn < (t.nodes() > 16 ? 10u : 50u); ++turn) {
    damage dead(t);
    const auto share = unsigned(5 + random() % 45);  // percent
    for (const link& l : all)
      if (random() % 100 < share) dead.set_link(l.node, l.port, true);
    for (unsigned n = 0; n < t.nodes(); ++n) dead.set_node(n, random() % 100 < share / 5);
    expect_ways(dead);
    if (HasFatalFailure()) FAIL() << "turn " << turn;
  }
}

TEST_P(broken, a_link_that_comes_back_makes_it_whole) {
  damage dead(t);
  for (const link& l : links()) dead.set_link(l.node, l.port, true);
  EXPECT_TRUE(dead.any());
  for (const link& l : links()) {
    const auto there = *t.across(l.node, l.port);
    dead.set_link(there.node, there.port, false);  // by its other end
  }
  EXPECT_FALSE(dead.any());
  EXPECT_TRUE(dead == damage(t));
}

// What the tests above would see: ways of a whole network that only step aside where a link is dead.
TEST(routes, stepping_aside_is_no_rule) {
  const auto t = *topology::parse("torus:4x4", 16);
  size_t circles = 0, loops = 0;
  for (unsigned n = 0; n < t.nodes(); ++n) {
    damage dead(t);
    dead.set_link(n, 0, true);
    const auto first = [&](unsigned at, unsigned to) -> std::optional<topology::step> {
      auto s = t.next(at, to);
      for (unsigned tried = 0; !dead.across(at, s.port) && tried < t.ports(); ++tried)
        s.port = (s.port + 1) % t.ports();
      return s;
    };
    const auto no_second = [](unsigned, unsigned) { return std::optional<topology::step>(); };
    circles += channels_in_circles(waits_of(t, first, no_second));
    for (unsigned from = 0; from < t.nodes(); ++from)
      for (unsigned to = 0; to < t.nodes(); ++to) {
        unsigned at = from, hops = 0;
        for (; at != to && hops <= t.nodes(); ++hops) at = t.across(at, first(at, to)->port)->node;
        loops += at != to;
      }
  }
  EXPECT_GT(circles, 0u);
  EXPECT_GT(loops, 0u);
}

}  // namespace
}  // namespace ggas::test::routes_test
