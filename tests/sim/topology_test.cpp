// SPDX-License-Identifier: Apache-2.0
// Topologies: every way ends and is a shortest one, both ends of a link agree, and the channels have no circle.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "sim/fabric/topology.hpp"
#include "tests/sim/channels.hpp"

namespace ggas::test {
namespace {

using fabric::topology;

struct shape {
  const char* text;
  unsigned nodes;
};
void PrintTo(const shape& s, std::ostream* os) { *os << s.text << " of " << s.nodes; }

constexpr shape shapes[] = {
    {"full", 2},       {"full", 7},       {"ring", 2},         {"ring", 3},      {"ring", 4},       {"ring", 9},
    {"mesh:2x2", 4},   {"mesh:4x3", 12},  {"mesh:3x3x3", 27},  {"torus:2x2", 4}, {"torus:4x4", 16}, {"torus:4x2x2", 16},
    {"torus:5x3", 15}, {"torus:2x7", 14}, {"torus:4x3x5", 60}, {"auto", 64},     {"auto", 1},       {"auto", 7},
    {"auto", 8},       {"auto", 11},      {"auto", 12}};

class topologies : public testing::TestWithParam<shape> {
 protected:
  topology t = *topology::parse(GetParam().text, GetParam().nodes);
};
INSTANTIATE_TEST_SUITE_P(shapes, topologies, testing::ValuesIn(shapes), [](const auto& i) {
  std::string name = i.param.text;
  std::ranges::replace(name, ':', '_');
  return name + "_" + std::to_string(i.param.nodes);
});

TEST_P(topologies, ends_of_a_link_agree) {
  for (unsigned n = 0; n < t.nodes(); ++n)
    for (unsigned p = 0; p < t.ports(); ++p)
      if (const auto there = t.across(n, p)) {
        EXPECT_NE(there->node, n);
        EXPECT_EQ(t.across(there->node, there->port), (topology::end{n, p}));
      }
}

// Shortest by breadth first search over the links alone.
TEST_P(topologies, ways_are_shortest) {
  for (unsigned from = 0; from < t.nodes(); ++from) {
    std::map<unsigned, unsigned> far{{from, 0}};
    for (std::vector<unsigned> border{from}; !border.empty();) {
      std::vector<unsigned> next;
      for (const unsigned n : border)
        for (unsigned p = 0; p < t.ports(); ++p)
          if (const auto e = t.across(n, p); e && far.emplace(e->node, far[n] + 1).second) next.push_back(e->node);
      border = next;
    }
    ASSERT_EQ(far.size(), t.nodes()) << "not connected";
    for (const auto& [to, hops] : far) EXPECT_EQ(t.hops(from, to), hops) << from << " to " << to;
  }
}

TEST_P(topologies, second_choices_are_shortest_too) {
  for (unsigned at = 0; at < t.nodes(); ++at)
    for (unsigned to = 0; to < t.nodes(); ++to) {
      const auto also = at == to ? std::nullopt : t.second(at, to);
      if (!also) continue;
      EXPECT_NE(also->port, t.next(at, to).port);
      const auto there = t.across(at, also->port);
      ASSERT_TRUE(there);
      EXPECT_EQ(t.hops(there->node, to) + 1, t.hops(at, to)) << at << " to " << to;
    }
}

TEST_P(topologies, channels_have_no_circle) {
  const auto second = [this](unsigned at, unsigned to) {
    const auto also = t.second(at, to);
    EXPECT_LT(std::max(also.value_or(topology::step{}).lane, t.next(at, to).lane), 2u);
    return also;
  };
  EXPECT_EQ(channels_in_circles(waits_of(t, second)), 0u) << "channels wait for each other";
}

// The copies for a group use the same links and lanes as packets to each single member, and each channel carries one
// copy. A packet in a buffer waits for the next buffers of all its copies: these waits have no cycle, also together
// with the waits of other packets.
TEST_P(topologies, trees_follow_the_ways_and_add_no_waits) {
  std::vector<unsigned> all(t.nodes());
  std::iota(all.begin(), all.end(), 0u);
  const waits plain = waits_of(t, [](unsigned, unsigned) { return std::optional<topology::step>{}; });
  for (unsigned root = 0; root < t.nodes(); ++root) {
    std::map<std::pair<unsigned, unsigned>, fabric::group_line> lines;  // by node and lane
    for (const auto& l : t.tree(root, all)) EXPECT_TRUE(lines.emplace(std::pair{l.node, l.lane}, l).second);
    std::set<channel> taken;
    std::set<unsigned> reached;
    // Each copy with the node it is in and the channel it came by.
    std::vector<std::tuple<unsigned, unsigned, std::optional<channel>>> copies{{root, fabric::own_units, std::nullopt}};
    while (!copies.empty()) {
      const auto [node, port, came] = copies.back();
      copies.pop_back();
      const auto line = lines.find({node, came ? std::get<2>(*came) : 0u});
      if (t.nodes() == 1) break;
      ASSERT_NE(line, lines.end());
      EXPECT_EQ(line->second.port, port);
      if (line->second.member) {
        EXPECT_TRUE(reached.insert(node).second);
      }
      for (unsigned b = 0; b < 12; ++b) {
        if (!(line->second.branches >> b & 1)) continue;
        const channel next{node, b / 2, b % 2};
        EXPECT_TRUE(taken.insert(next).second);
        EXPECT_TRUE(!came || plain.at(*came).contains(next)) << "a wait that no other packet has";
        const auto there = *t.across(node, b / 2);
        copies.push_back({there.node, there.port, next});
      }
    }
    EXPECT_EQ(reached.size(), t.nodes() - 1);
    EXPECT_FALSE(reached.contains(root));
    // As the packets of `root` go.
    for (const unsigned to : all)
      for (unsigned at = root; at != to;) {
        const auto s = t.next(at, to);
        EXPECT_TRUE(taken.contains({at, s.port, s.lane})) << root << " to " << to << " at " << at;
        at = t.across(at, s.port)->node;
      }
  }
}

// What the test above would see: second choices in the lane of the first ones, and a later ring before an earlier one.
TEST(topology, wrong_second_choices_are_circles) {
  const auto mesh = *topology::parse("mesh:3x3", 9), torus = *topology::parse("torus:4x4", 16);
  EXPECT_NE(channels_in_circles(waits_of(mesh,
                                         [&](unsigned at, unsigned to) {
                                           auto also = mesh.second(at, to);
                                           if (also) also->lane = 0;
                                           return also;
                                         })),
            0u);
  EXPECT_NE(channels_in_circles(waits_of(torus,
                                         [&](unsigned at, unsigned to) -> std::optional<topology::step> {
                                           if (at % 4 == to % 4 || at / 4 == to / 4) return std::nullopt;
                                           return topology::step{torus.next(at, to / 4 * 4 + at % 4).port, 1};
                                         })),
            0u);
}

TEST(topology, second_choices) {
  const auto number = [](const char* text, unsigned nodes) {
    const auto t = *topology::parse(text, nodes);
    unsigned n = 0;
    for (unsigned at = 0; at < nodes; ++at)
      for (unsigned to = 0; to < nodes; ++to) n += at != to && t.second(at, to);
    return n;
  };
  EXPECT_EQ(number("full", 7), 0u);
  EXPECT_EQ(number("ring", 5), 0u);
  EXPECT_EQ(number("ring", 6), 6u);          // half way round
  EXPECT_EQ(number("mesh:3x2", 6), 12u);     // all that differ in both dimensions
  EXPECT_EQ(number("torus:2x2x2", 8), 32u);  // in two or three
  EXPECT_EQ(number("torus:4x4", 16), 80u);   // half way round the first dimension that differs
}

TEST(topology, automatic_choice) {
  const auto name = [](unsigned nodes) { return topology::parse("auto", nodes)->name(); };
  EXPECT_EQ(name(7), "full");
  EXPECT_EQ(name(8), "torus:2x2x2");
  EXPECT_EQ(name(11), "ring");
  EXPECT_EQ(name(12), "torus:3x2x2");
  EXPECT_EQ(name(64), "torus:4x4x4");
  EXPECT_EQ(name(1024), "torus:16x8x8");
}

TEST(topology, bad_text_is_named_with_its_rule) {
  const auto error = [](const char* text, unsigned nodes) {
    const auto t = topology::parse(text, nodes);
    return t ? "none" : t.error();
  };
  EXPECT_EQ(
      error("star", 4),
      "topology 'star' of 4 nodes: expected auto, full, ring, mesh:AxB[xC], torus:AxB[xC], fat-tree:, leaf-spine:, "
      "dragonfly: or the name of a file (docs/open-networks.md)");
  EXPECT_EQ(error("leaf-spine:2x2x2", 6), "topology 'leaf-spine:2x2x2' of 6 nodes: it has 4 nodes");
  EXPECT_EQ(error("torus:4x4", 12), "topology 'torus:4x4' of 12 nodes: it has 16 nodes");
  EXPECT_EQ(error("mesh:1x4", 4), "topology 'mesh:1x4' of 4 nodes: each size must be at least 2");
  EXPECT_EQ(error("full", 8), "topology 'full' of 8 nodes: a NIC has 6 links, so full joins 7 nodes");
  EXPECT_EQ(error("auto", 0), "topology 'auto' of 0 nodes: 1 to 65536 nodes are possible");
  for (const char* text : {"", "torus", "torus:", "torus:4", "torus:4x", "torus:x4", "torus:2x2x2x3", "torus:4-4",
                           "torus:99999999999x2", "mesh:4x4 ", "ring:4"})
    EXPECT_NE(error(text, 16), "none") << text;
}

}  // namespace
}  // namespace ggas::test
