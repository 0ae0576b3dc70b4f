// SPDX-License-Identifier: Apache-2.0
// Networks of switches: generators, readers, tables without cycles, and what is wrong with a description.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sim/fabric/graph/describe.hpp"
#include "sim/fabric/graph/readers.hpp"
#include "sim/fabric/topology.hpp"
#include "tests/sim/graphs.hpp"

namespace ggas::test::graph_test {
namespace {

using fabric::graph;

graph described(const std::string& text) {
  auto g = fabric::describe_switches(text);
  EXPECT_TRUE(g && *g) << text << ": " << (g ? "not taken" : g.error());
  return std::move(**g);
}
std::string error(const std::string& text) {
  const auto g = fabric::describe_switches(text);
  return !g ? g.error() : *g ? "none" : "not taken";
}

struct shape {
  const char* text;
  unsigned nics, switches, farthest;  // cables between the two NICs that are farthest from each other
};
void PrintTo(const shape& s, std::ostream* os) { *os << s.text; }
constexpr shape shapes[] = {
    {"leaf-spine:4x2x3", 12, 6, 4}, {"leaf-spine:1x1x5", 5, 2, 2}, {"fat-tree:4x1", 4, 1, 2},
    {"fat-tree:4x2", 16, 8, 4},     {"fat-tree:2x4", 16, 32, 8},   {"fat-tree:3x3", 27, 27, 6},
    {"dragonfly:4x2x2", 72, 36, 5}, {"dragonfly:2x1x3", 18, 6, 5}, {"dragonfly:4x2x1x5", 20, 20, 5},
    {"torus:3x3x3x3", 81, 81, 6},   {"torus:4x4:2", 32, 16, 6},    {"torus:5:3", 15, 5, 4},
    {"mesh:2x2x2x2x2", 32, 32, 7},  {"mesh:3x4:1", 12, 12, 7}};

class graphs : public testing::TestWithParam<shape> {
 protected:
  graph g = described(GetParam().text);
};
INSTANTIATE_TEST_SUITE_P(shapes, graphs, testing::ValuesIn(shapes), [](const auto& i) {
  std::string name = i.param.text;
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '-'; }, '_');
  return name;
});

TEST_P(graphs, sizes_ends_and_routes) {
  EXPECT_EQ(g.nics(), GetParam().nics);
  EXPECT_EQ(g.switches(), GetParam().switches);
  for (unsigned v = 0; v < g.vertices(); ++v)
    for (unsigned p = 0; p < g.ports(v); ++p) {
      const auto far = g.across(v, p);
      EXPECT_EQ(g.across(far.node, far.port), (fabric::end_of_link{v, p}));
    }
  unsigned farthest = 0;
  for (unsigned from = 0; from < g.nics(); ++from)
    for (unsigned to = 0; to < g.nics(); ++to) farthest = std::max(farthest, g.hops(from, to));
  EXPECT_EQ(farthest, GetParam().farthest);
  EXPECT_EQ(channels_in_circles(g), 0u) << g.routes();
}

// Ports of one number down and up, so that a shift of all NICs finds a cable for each packet.
TEST(graph, a_shift_shares_no_cable_of_a_fat_tree) {
  const graph g = described("fat-tree:4x2");
  for (unsigned shift = 1; shift < g.nics(); ++shift) {
    std::set<std::pair<unsigned, unsigned>> taken;
    for (unsigned from = 0; from < g.nics(); ++from)
      for (unsigned at = from, to = (from + shift) % g.nics(); at != to;) {
        const unsigned port = g.next(at, to).port;
        EXPECT_TRUE(taken.emplace(at, port).second) << "shift " << shift;
        at = g.across(at, port).node;
      }
  }
}

TEST(graph, random_ones_have_tables_without_cycles) {
  std::set<std::string> ways;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const auto how : {fabric::routing::automatic, fabric::routing::up_down}) {
      graph g = random_graph(seed);
      ASSERT_TRUE(g.check()) << g.check().error();
      ASSERT_TRUE(g.find_routes(how));
      ways.insert(g.routes());
      EXPECT_EQ(channels_in_circles(g), 0u) << "seed " << seed << ", " << g.routes();
      for (unsigned from = 0; from < g.nics(); ++from)
        for (unsigned to = 0; to < g.nics(); ++to) EXPECT_LE(g.hops(from, to), g.switches() + 1);
    }
  EXPECT_TRUE(ways.contains("up*/down*"));
  EXPECT_TRUE(ways.contains("shortest, 1 lane") || ways.contains("shortest, 2 lanes"));
}

// Rings of switches: shortest routes need two lanes. A wheel of complete graphs would need more.
TEST(graph, lanes_as_needed) {
  const auto ring = [](unsigned n) {
    graph g(n, n);
    for (unsigned s = 0; s < n; ++s) g.connect(n + s, s);
    for (unsigned s = 0; s < n; ++s) g.connect(n + s, n + (s + 1) % n);
    return g;
  };
  graph three = ring(3), six = ring(6);
  ASSERT_TRUE(three.find_routes(fabric::routing::automatic));
  EXPECT_EQ(three.routes(), "shortest, 1 lane");
  ASSERT_TRUE(six.find_routes(fabric::routing::automatic));
  EXPECT_EQ(channels_in_circles(six), 0u);
  for (unsigned n = 0; n < 6; ++n) six.set_next(6 + n, 0, {n == 0 ? 0u : 1u, 0});
  for (unsigned to = 0; to < 6; ++to)  // all clockwise in one lane
    for (unsigned n = 0; n < 6; ++n) six.set_next(6 + n, to, {n == to ? 0u : n == 5 ? 2u : n == 0 ? 1u : 2u, 0});
  const auto found = six.find_routes(fabric::routing::automatic);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().find("the routing has a cycle of waits, switch "), std::string::npos) << found.error();
  EXPECT_NE(channels_in_circles(six), 0u);
}

// ---------------------------------------------------------------------------------------------- files

class files : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const auto path = std::filesystem::path(testing::TempDir()) / ("graph_test_" + name);
    std::ofstream(path) << text;
    return path.string();
  }
};

TEST_F(files, anynet_of_booksim) {
  const graph g =
      described(write("net", "router 0 node 0 node 1 5 router 1 15\nrouter 1 node 2 \n\nnode 3 router 1\n"));
  EXPECT_EQ(g.nics(), 4u);
  EXPECT_EQ(g.switches(), 2u);
  EXPECT_EQ(g.hops(0, 3), 3u);
  const auto cycles = [&](unsigned at, unsigned to) { return g.out(at, g.next(at, to).port).latency_flits; };
  EXPECT_EQ(cycles(0, 1), 1u);
  EXPECT_EQ(cycles(4, 1), 5u);
  EXPECT_EQ(cycles(1, 0), 5u);
  EXPECT_EQ(cycles(4, 2), 15u);
  EXPECT_EQ(cycles(5, 0), 1u) << "the way back has its own latency";
}

constexpr const char* two_switches = R"(#
# Topology file: generated on Sat Nov 28 2026
vendid=0x2c9
switchguid=0x2(2)
Switch	8 "S-2"		# "left" base port 0 lid 2 lmc 0
[1]	"H-4"[1](5) 		# "host a" lid 4 4xEDR
[8]	"S-3"[7]		# "right" lid 3 4xHDR
[7]	"A-1"[1](9)		# "Mellanox Technologies Aggregation Node" lid 9 4xHDR

Switch	8 "S-3"		# "right" base port 0 lid 3 lmc 0
[7]	"S-2"[8]		# "left" lid 2 4xHDR
[2]	"H-6"[2](8) 		# "host b" lid 6 4xEDR

Ca	1 "A-1"		# "Mellanox Technologies Aggregation Node"
[1](9) 	"S-2"[7]		# lid 9 lmc 0 "left" lid 2 4xHDR

caguid=0x4
Ca	1 "H-4"		# "host a"
[1](5) 	"S-2"[1]		# lid 4 lmc 0 "left" lid 2 4xEDR

Ca	2 "H-6"		# "host b"
[2](8) 	"S-3"[2]		# lid 6 lmc 0 "right" lid 3 4xEDR
)";

TEST_F(files, ibnetdiscover) {
  const graph g = described(write("ib", two_switches));
  EXPECT_EQ(g.nics(), 2u);
  EXPECT_EQ(g.switches(), 2u);
  EXPECT_EQ(g.name(0), "'host a'");
  EXPECT_EQ(g.name(3), "'right'");
  EXPECT_EQ(g.ports(2), 2u) << "a cable that both ends name is one";
  EXPECT_EQ(g.hops(0, 1), 3u);
  EXPECT_EQ(g.out(0, 0).bits_per_second, 100e9);
  EXPECT_EQ(g.out(2, g.next(2, 1).port).bits_per_second, 200e9);
}

constexpr const char* small = R"(nics = 3
switches = ["a", "b"]
forward_ns = 50
cut_through = false
buffer_packets = 2
[[link]]
between = ["a", ["nic0", "nic1"]]
[[link]]
between = ["a:4", "b:4"]
gbit_per_s = 40
latency_ns = 500
[[link]]
between = ["nic2", "b"]
)";

TEST_F(files, toml) {
  const graph g = described(write("small.toml", small) + ",latency_ns=7,buffer_packets=3");
  EXPECT_EQ(g.hops(0, 2), 3u);
  EXPECT_EQ(g.settings.forward_ps, 50'000u);
  EXPECT_FALSE(g.settings.cut_through);
  EXPECT_EQ(g.settings.buffer_packets, 3u);
  const auto& trunk = g.out(3, g.next(3, 2).port);
  EXPECT_EQ(trunk.bits_per_second, 40e9);
  EXPECT_EQ(trunk.latency_ps, 500'000u);
  EXPECT_EQ(g.out(0, 0).latency_ps, 7'000u);
  EXPECT_EQ(fabric::topology::parse(write("small.toml", small), 4).error(),
            "topology '" + write("small.toml", small) + "' of 4 nodes: it has 3 nodes");
}

// ---------------------------------------------------------------------------------------------- bad input

TEST(graph, bad_sizes_and_settings_are_named_with_their_rule) {
  EXPECT_EQ(error("star"), "not taken");
  EXPECT_EQ(error("torus:4x4"), "not taken");
  EXPECT_EQ(error("fat-tree:4"), "expected arity and levels, as in fat-tree:4x2");
  EXPECT_EQ(error("fat-tree:1x2"), "an arity of at least 2");
  EXPECT_EQ(error("fat-tree:32x8"), "it has more than 65536 NICs and switches");
  EXPECT_EQ(error("leaf-spine:4x0x2"), "at least one leaf, spine and NIC of each leaf");
  EXPECT_EQ(error("dragonfly:4x2x2x20"), "2 to 9 groups");
  EXPECT_EQ(error("dragonfly:4x2x2x4"), "8 global cables of a group are not divisible by 3 other groups");
  EXPECT_EQ(error("torus:4x1x2x2"), "each size must be at least 2");
  EXPECT_EQ(error("mesh:4x4:0"), "expected up to eight sizes and NICs of each switch, as in torus:4x4:2");
  EXPECT_EQ(error("fat-tree:2x2,gbit_per_s=0"), "gbit_per_s=0: must be above 0 and at most 1e6 Gbit/s");
  EXPECT_EQ(error("fat-tree:2x2,latency_ns=-1"), "latency_ns=-1: must be 0 to 1e9 ns");
  EXPECT_EQ(error("fat-tree:2x2,buffer_packets=0"), "buffer_packets=0: must be a whole number, 1 to 10000");
  EXPECT_EQ(error("fat-tree:2x2,lanes=3"),
            "'lanes=3': settings are forward_ns, latency_ns, gbit_per_s, buffer_packets, cut_through");
}

TEST(graph, bad_files_are_named_with_line_and_rule) {
  const auto any = [](const char* text) { return fabric::read_anynet(text, "f").error(); };
  EXPECT_EQ(any("router 0 node 0\nswitch 1"), "f:2: 'switch': a line begins with router or node");
  EXPECT_EQ(any("router 0 node"), "f:1: node without a number");
  EXPECT_EQ(any("router 0 node -1"), "f:1: node '-1': must be a number below 65536");
  EXPECT_EQ(any("router 0 node 0 0"), "f:1: latency '0': must be 1 to 1000000 cycles");
  EXPECT_EQ(any("router 0 node 0\nrouter 1 node 0"), "f:2: node 0 is at router 0 already, and cannot be at router 1");
  EXPECT_EQ(any("router 0 node 1"), "f: node 0 is missing: they are numbered from 0");
  EXPECT_EQ(any("router 0 router 0"), "f:1: router 0 is connected to itself");
  EXPECT_EQ(any("router 0 router 1 router 1"), "f:1: router 0 has a second channel to router 1: BookSim has one");

  const auto ib = [](const std::string& text) { return fabric::read_ibnetdiscover(text, "f").error(); };
  EXPECT_EQ(ib("Switch 4 \"a\"\n[1] \"b\"[1]\n"), "f:2: \"b\" is described nowhere");
  EXPECT_EQ(ib("Switch 4 \"a\"\n[5] \"b\"[1]\n"), "f:2: port or ports '5': must be 1 to 4");
  EXPECT_EQ(ib("Switch 4 \"a\"\nSwitch 4 \"a\"\n"), "f:2: \"a\" is described twice");
  EXPECT_EQ(ib("Switch 4 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[2]\nSwitch 4 \"b\"\n"),
            "f:3: port 1 of \"a\" is connected twice");
  EXPECT_EQ(ib("Switch 4 \"a\"\n[1] \"b\"[1]\n[2] \"b\"[1]\nSwitch 4 \"b\"\n"),
            "f:3: port 1 of \"b\" is connected twice: to \"a\" and \"a\"");
  EXPECT_EQ(ib("Switch 4 \"a\"\n[1] \"b\"[1] # 4xFAST\nSwitch 4 \"b\"\n"),
            "f:2: rate '4xFAST': lanes are SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR");
  EXPECT_EQ(ib("Rt 4 \"a\"\n"), "f:1: \"a\": routers of InfiniBand are not simulated");
  EXPECT_EQ(ib("garbage\n"), "f:1: 'garbage': expected Switch, Ca or a port, as in [1] \"S-1\"[2]");

  const auto toml = [](const std::string& text) {
    return fabric::read_network_toml("nics = 2\nswitches = [\"a\"]\n" + text, "f").error();
  };
  EXPECT_EQ(toml("[[link]]\nbetween = [\"a\", \"b\"]"),
            "f:4: link.between: 'b' is no switch of the list and none of nic0, nic1, ...");
  EXPECT_EQ(toml("[[link]]\nbetween = [\"a:1\", \"nic0\"]\n[[link]]\nbetween = [\"a:1\", \"nic1\"]"),
            "f:6: link.between: port 1 of 'a' has two cables");
  EXPECT_EQ(toml("[[link]]\nbetween = [\"a\", \"nic0\"]\ngbit_per_s = 0"),
            "f:5: gbit_per_s: must be above 0 and at most 1000000");
  EXPECT_EQ(toml("colour = 1"), "f:3: colour: unknown key");
  EXPECT_EQ(toml("routing = \"best\""), "f:3: routing: must be \"auto\", \"shortest\" or \"up-down\"");
}

TEST(graph, what_no_routing_repairs) {
  const auto wrong = [](const graph& g) { return g.check().error(); };
  graph alone(2, 2);
  alone.connect(2, 0);
  alone.connect(3, 1);
  EXPECT_EQ(wrong(alone), "no route joins NIC 0 and NIC 1: all NICs must be connected");
  graph direct(2, 0);
  direct.connect(0, 1);
  EXPECT_EQ(wrong(direct), "NIC 0 is connected to NIC 1: a NIC needs a switch");
  graph many(1, 1);
  for (unsigned n = 0; n < 7; ++n) many.connect(0, 1);
  EXPECT_EQ(wrong(many), "NIC 0 has 7 cables: 6 are possible");
  graph through(3, 2);  // no NIC forwards
  through.connect(3, 0);
  through.connect(3, 1);
  through.connect(4, 1);
  through.connect(4, 2);
  EXPECT_EQ(wrong(through), "no route joins NIC 0 and NIC 2: all NICs must be connected");
}

// A cycle that shortest routes have in both lanes.
TEST(graph, shortest_routes_alone_may_have_a_cycle) {
  unsigned cycles = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    graph g = random_graph(seed);
    const auto found = g.find_routes(fabric::routing::shortest);
    if (found) continue;
    ++cycles;
    EXPECT_TRUE(found.error().starts_with("shortest routes have a cycle of waits in 2 lanes, ")) << found.error();
    EXPECT_TRUE(found.error().ends_with(": take routing = \"up-down\"")) << found.error();
  }
  EXPECT_LT(cycles, 20u);
}

}  // namespace
}  // namespace ggas::test::graph_test
