// SPDX-License-Identifier: Apache-2.0
// Links, routes and crossbar of a NIC with six links, in clusters of up to nine nodes (docs/network.md). GGAS_SEED sets
// the seed.
#include <bit>
#include <iostream>

#include "tests/rtl/net/links_suite.hpp"

namespace ggas::test {
namespace {

TYPED_TEST_SUITE(LinksTest, widths);

TYPED_TEST(LinksTest, RandomPacketsArriveInOrder) {
  struct shape {
    const char* text;
    unsigned nodes;
  };
  for (const shape s :
       {shape{"full", 4}, {"full", 7}, {"ring", 5}, {"mesh:3x2", 6}, {"torus:3x3", 9}, {"torus:2x2x2", 8}}) {
    SCOPED_TRACE(s.text);
    auto c = this->make(s.text, s.nodes);
    this->all_arrive(c, TypeParam::words == 2 ? 600 : 300);
    if (std::string_view(s.text) == "full") {
      EXPECT_EQ(c.overtaken(), 0u);  // no second choices
    }
  }
}

// Packets for groups among others, with idle cycles and back-pressure. Each member gets each of them once, unchanged,
// in the order of their source. No NP packet passes one of them.
TYPED_TEST(LinksTest, RandomPacketsForGroupsArriveInOrder) {
  struct shape {
    const char* text;
    unsigned nodes;
  };
  for (const shape s :
       {shape{"full", 5}, {"ring", 5}, {"ring", 8}, {"mesh:3x2", 6}, {"torus:3x3", 9}, {"torus:2x2x2", 8}}) {
    SCOPED_TRACE(s.text);
    auto c = this->make(s.text, s.nodes);
    this->groups(c, s.nodes % 2 == 0);
    ASSERT_TRUE(c.wait_up());
    c.takes = 0.5;
    const unsigned packets = TypeParam::words == 2 ? 600 : 300;
    this->mixed_traffic(c, packets);
    this->all_come(c, packets);
  }
}

// All buffers full, of packets for groups and others: no circle of waits.
TYPED_TEST(LinksTest, FullBuffersWithGroupsDoNotStandStill) {
  struct shape {
    const char* text;
    unsigned nodes;
  };
  for (const shape s : {shape{"ring", 6}, {"torus:3x3", 9}, {"mesh:3x2", 6}, {"torus:2x2x2", 8}}) {
    SCOPED_TRACE(s.text);
    auto c = this->make(s.text, s.nodes);
    this->groups(c);
    ASSERT_TRUE(c.wait_up());
    c.offers = 1;
    c.takes = 0.2;
    for (unsigned i = 0; i < (TypeParam::words == 2 ? 12u : 30u); ++i) {
      for (unsigned from = 0; from < s.nodes; ++from) {
        auto p = this->plain(from, 0, 64);
        p.addr = 8ull * i;
        c.multicast(from, p);
        c.random_packet(from, (from + 1 + i % (s.nodes - 1)) % s.nodes);
      }
    }
    this->all_come(c, 0);
  }
}

// All buffers full: rings without lanes would stand still.
TYPED_TEST(LinksTest, FullRingsDoNotStandStill) {
  for (const char* text : {"ring", "torus:3x3"}) {
    SCOPED_TRACE(text);
    auto c = this->make(text, text[0] == 'r' ? 6 : 9);
    c.offers = 1;
    c.takes = 0.05;
    this->all_arrive(c, TypeParam::words == 2 ? 1200 : 600);
  }
}

// The same with almost only answers that may pass others, in networks with second choices: no deadlock, ordered packets
// keep their order, and some answers do pass.
TYPED_TEST(LinksTest, FullBuffersWithSecondChoicesDoNotStandStill) {
  struct shape {
    const char* text;
    unsigned nodes;
  };
  for (const shape s : {shape{"torus:2x2x2", 8}, {"mesh:3x2", 6}, {"ring", 4}}) {
    SCOPED_TRACE(s.text);
    auto c = this->make(s.text, s.nodes);
    ASSERT_TRUE(c.wait_up());
    c.offers = 1;
    c.takes = 0.3;
    for (unsigned i = 0; i < 60 * s.nodes; ++i) {
      const unsigned from = i % s.nodes, to = (from + 1 + unsigned(c.rng()() % (s.nodes - 1))) % s.nodes;
      auto p = this->plain(to, 2, 64);
      p.set_unordered(i % 4 != 0);
      p.addr = 8ull * i;
      c.send(from, p);
    }
    EXPECT_TRUE(c.drain()) << c.under_way() << " packets are stuck";
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
    EXPECT_GT(c.overtaken(), 0u);
  }
}

// A link that a stream of stores fills: answers that may pass others go around it, the others wait for it.
TYPED_TEST(LinksTest, SecondChoiceGoesAroundABusyLink) {
  std::array<uint64_t, 2> took{}, around{};
  for (const bool unordered : {false, true}) {
    auto c = this->make("mesh:3x2", 6);  // 0 - 1 - 2 above 3 - 4 - 5
    ASSERT_TRUE(c.wait_up());
    c.offers = c.takes = c.phy = 1;
    for (unsigned i = 0; i < 60; ++i) {
      c.send(1, this->plain(2, 0, 64));
      auto p = this->plain(5, 2, 64);
      p.set_unordered(unordered);
      p.addr = 8ull * i;
      c.send(0, p);
    }
    const uint64_t from = c.time(), before = c.flits(1, 2);
    ASSERT_TRUE(c.drain());
    took[unordered] = c.time() - from;
    around[unordered] = c.flits(1, 2) + c.flits(0, 2) - before;
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
  }
  std::cout << took[0] << " cycles in order, " << took[1] << " with second choices\n";
  EXPECT_LT(double(took[1]), 0.75 * double(took[0]));
  EXPECT_GT(around[1], around[0]);
}

// The first choice is dead: who may take the second one arrives, the others are informed; without both all are.
TYPED_TEST(LinksTest, SecondChoiceReplacesADeadLink) {
  auto c = this->make("mesh:2x2", 4);  // 0 - 1 above 2 - 3
  ASSERT_TRUE(c.wait_up());
  c.cut(0, 0);
  for (unsigned i = 0; i < 1000 && c.state(0, 0) != links_dead; ++i) c.step();
  ASSERT_EQ(c.state(0, 0), links_dead);
  const auto send = [&](bool unordered) {
    for (unsigned i = 0; i < 10; ++i) {
      auto p = this->plain(3, 2, 8);
      p.set_unordered(unordered);
      c.send(0, p);
    }
  };
  send(true);
  EXPECT_TRUE(c.drain());
  EXPECT_EQ(c.count().no_route, 0u);
  send(false);
  for (unsigned i = 0; i < 500; ++i) c.step();
  EXPECT_EQ(c.count().no_route, 10u);
  c.forget();
  c.cut(0, 2);
  for (unsigned i = 0; i < 1000 && c.state(0, 2) != links_dead; ++i) c.step();
  send(true);
  for (unsigned i = 0; i < 500; ++i) c.step();
  EXPECT_EQ(c.count().no_route, 20u);
  EXPECT_EQ(c.errors(), 0u) << c.first_error();
  c.forget();
}

// Without lanes: what the tests of full buffers would see.
TYPED_TEST(LinksTest, RingWithoutLanesStandsStill) {
  auto c = this->make("ring", 6);
  for (unsigned at = 0; at < 6; ++at)
    for (unsigned to = 0; to < 6; ++to)
      if (to != at) c.route(at, to, topology::step{c.shape().next(at, to).port, 0});
  ASSERT_TRUE(c.wait_up());
  c.offers = 1;
  c.takes = 0.1;  // shares of the links alone leave room in the buffers
  for (unsigned i = 0; i < 400; ++i)
    for (unsigned at = 0; at < 6; ++at) c.send(at, this->plain((at + 3) % 6, 2, 64));
  EXPECT_FALSE(c.drain(3000));
}

// The same for groups: all copies go up the ring in lane 0.
TYPED_TEST(LinksTest, GroupsWithoutLanesStandStill) {
  auto c = this->make("ring", 6);
  this->groups(c);
  for (unsigned root = 0; root < 6; ++root) {
    for (unsigned i = 0; i < 6; ++i) {
      const uint16_t up = i < 5 ? fabric::group_line::branch(0, 0) : 0;
      c.group_line(root, {.node = (root + i) % 6, .port = i ? 1 : fabric::own_units, .member = i > 0, .branches = up});
    }
  }
  ASSERT_TRUE(c.wait_up());
  c.offers = 1;
  c.takes = 0.1;
  for (unsigned i = 0; i < 300; ++i)
    for (unsigned at = 0; at < 6; ++at) c.multicast(at, this->plain(at, 0, 64));
  EXPECT_FALSE(c.drain(3000));
}

TYPED_TEST(LinksTest, HopTakesFewCycles) {
  enum class what { empty, store, group };
  std::map<what, uint64_t> hop;  // last flit in to first flit out
  for (const what sent : {what::empty, what::store, what::group}) {
    auto c = this->make("ring", 7);  // 0 - 1 - 2 - 3: no dateline between them
    c.offers = c.takes = c.phy = 1;
    std::array<uint64_t, 3> cycles{};
    ASSERT_TRUE(c.wait_up());
    for (unsigned hops = 1; hops <= 3; ++hops) {
      c.group(0, {hops});
      cycles[hops - 1] = ~uint64_t{0};
      for (unsigned again = 0; again < 8; ++again) {  // a CTRL flit may be in front
        for (unsigned i = 0; i < 100; ++i) c.step();
        if (sent == what::group)
          c.multicast(0, this->plain(0, 0, 2));
        else
          c.send(0, sent == what::store ? this->plain(hops, 0, 2) : this->plain(hops, 1, 0));
        ASSERT_TRUE(c.drain());
        cycles[hops - 1] = std::min(cycles[hops - 1], c.arrived_at - c.left_at);
      }
    }
    const uint64_t flits = TypeParam::words == 2 ? sent == what::empty ? 4 : 5 : 1;
    hop[sent] = cycles[1] - cycles[0] - c.latency - (flits - 1);
    EXPECT_EQ(cycles[2] - cycles[1], cycles[1] - cycles[0]);
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
  }
  std::cout << "hop of a packet without payload " << hop[what::empty] << " cycles, of a store " << hop[what::store]
            << ", of a store to a group " << hop[what::group] << ", last flit in to first flit out\n";
  EXPECT_LE(hop[what::empty], 12u);
  EXPECT_EQ(hop[what::group], hop[what::store]);
}

// Rate of stores to a group of all nodes. An input sends its copies one after the other, each as fast as links or units
// accept it: the node with the most copies sets the bound.
TYPED_TEST(LinksTest, GroupsGetStoresAsFastAsCopiesAreMade) {
  struct shape {
    const char* text;
    unsigned nodes;
  };
  for (const shape s : {shape{"full", 7}, {"torus:2x2x2", 8}, {"mesh:3x2", 6}, {"ring", 8}}) {
    for (const unsigned dws : {2u, 64u}) {
      auto c = this->make(s.text, s.nodes);
      this->groups(c);
      ASSERT_TRUE(c.wait_up());
      c.offers = c.takes = c.phy = 1;
      constexpr unsigned packets = 100;
      for (unsigned i = 0; i < packets; ++i) c.multicast(0, this->plain(0, 0, dws));
      for (unsigned i = 0; i < 100; ++i) c.step();
      const uint64_t from = c.time(), before = c.under_way();
      ASSERT_TRUE(c.drain());
      const double each = double(c.arrived_at - from) / (double(before) / (s.nodes - 1));
      const unsigned flits = TypeParam::words == 2 ? 4 + dws / 2 : (dws + 8 + 15) / 16;
      const unsigned beats = (dws + TypeParam::words - 1) / TypeParam::words;
      // The crossbar takes a cycle to give an input another link: a copy of one flit takes two.
      unsigned bound = 0, most = 0;
      for (const auto& line : c.shape().tree(0, this->everybody(c))) {
        const auto copies = unsigned(std::popcount(line.branches));
        bound = std::max(bound, copies * flits + line.member * beats);
        most = std::max(most, copies * std::max(flits, 2u) + line.member * beats);
      }
      std::cout << s.text << ", " << dws * 4 << " bytes: a store every " << each << " cycles, bound " << bound << "\n";
      EXPECT_LE(each, 1.1 * most + 0.5);
      EXPECT_EQ(c.errors(), 0u) << c.first_error();
    }
  }
}

// A stream through the crossbar of the node in the middle; of large packets, and of the smallest.
TYPED_TEST(LinksTest, StreamPassesAtTheRateOfALink) {
  for (const unsigned dws : {64u, 0u}) {
    auto c = this->make("mesh:3x2", 6);  // 0 - 1 - 2
    ASSERT_TRUE(c.wait_up());
    c.offers = c.takes = c.phy = 1;
    const unsigned flits = TypeParam::words == 2 ? 4 + dws / 2 : 1 + dws / 16;  // a packet
    const auto run = [&](unsigned to, unsigned port_of, unsigned port) {
      for (unsigned i = 0; i < 500 / flits; ++i) c.send(0, this->plain(to, 2, dws));
      for (unsigned i = 0; i < 120; ++i) c.step();  // the stream runs
      const uint64_t from = c.flits(port_of, port);
      for (unsigned i = 0; i < 250; ++i) c.step();
      const double rate = double(c.flits(port_of, port) - from) / 250;
      EXPECT_TRUE(c.drain());
      return rate;
    };
    const double direct = run(1, 0, 0), passed = run(2, 1, 0);
    std::cout << dws * 4 << " bytes: " << direct << " flits a cycle over a link, " << passed << " through a hop\n";
    EXPECT_GE(passed, 0.95 * direct);
  }
}

// Two streams that want the same link get half of it each.
TYPED_TEST(LinksTest, LinkIsSharedFairly) {
  auto c = this->make("mesh:3x2", 6);
  ASSERT_TRUE(c.wait_up());
  c.offers = c.takes = c.phy = 1;
  for (unsigned i = 0; i < 800; ++i) {
    c.send(0, this->plain(2, 2, 16));
    c.send(1, this->plain(2, 2, 16));
  }
  const auto sent = [&](unsigned n) { return c.flits(n, 0); };
  const bool narrow = TypeParam::words == 2;
  for (unsigned i = 0; i < (narrow ? 1500u : 600u); ++i) c.step();  // the buffers between them are full
  const uint64_t from0 = sent(0), from1 = sent(1);
  for (unsigned i = 0; i < (narrow ? 3000u : 600u); ++i) c.step();
  const double share = double(sent(0) - from0) / double(sent(1) - from1);
  EXPECT_NEAR(share, 0.5, 0.05);
}

// A link is cut under load: what it loses is reported, and with other routes every member reaches every member again.
TYPED_TEST(LinksTest, CutLinkIsReroutedAround) {
  for (unsigned round = 0; round < 4; ++round) {
    auto c = this->make("ring", 4);
    ASSERT_TRUE(c.wait_up());
    c.offers = 1;
    this->traffic(c, 800);
    for (unsigned i = 0; i < 200 + 37 * round; ++i) c.step();
    c.cut(0, 0);  // between 0 and 1
    const uint64_t dead_before = c.count().dead;
    for (unsigned i = 0; i < 30'000; ++i) c.step();
    EXPECT_EQ(c.count().dead - dead_before, 2u);
    EXPECT_GT(c.count().no_route, 0u);
    EXPECT_EQ(c.state(0, 0), links_dead);
    EXPECT_EQ(c.state(0, 1), links_up);
    // The ring is a line now, 1 - 2 - 3 - 0: port 0 leads up, port 1 down.
    c.forget();
    for (unsigned at = 0; at < 4; ++at) {
      const auto place = [](unsigned n) { return (n + 3) % 4; };
      for (unsigned to = 0; to < 4; ++to)
        if (to != at) c.route(at, to, topology::step{place(to) > place(at) ? 0u : 1u, 0});
    }
    const auto lost = c.count().no_route;
    this->traffic(c, 500);
    for (unsigned i = 0; i < 200'000 && c.under_way() != 0; ++i) c.step();
    EXPECT_EQ(c.under_way(), 0u);
    EXPECT_EQ(c.count().no_route, lost);
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
  }
}

// Packets that waited for a link when it died are lost: none of them arrives when the link comes back.
TYPED_TEST(LinksTest, NothingOldPassesALinkThatComesBack) {
  for (unsigned round = 0; round < 4; ++round) {
    auto c = this->make("ring", 4);
    ASSERT_TRUE(c.wait_up());
    c.offers = 1;
    for (unsigned i = 0; i < 100; ++i)
      for (unsigned from = 0; from < 4; ++from) c.send(from, this->plain((from + 1) % 4, i % 4, i % 4 == 1 ? 0 : 40));
    for (unsigned i = 0; i < 200 + 37 * round; ++i) c.step();
    c.cut(0, 0);  // between 0 and 1
    for (unsigned i = 0; i < 8'000; ++i) c.step();
    ASSERT_EQ(c.state(0, 0), links_dead);
    uint64_t old = 0;
    c.on_arrival = [&](unsigned, const nic::packet&) { ++old; };
    c.repair(0, 0);
    ASSERT_TRUE(c.wait_up());
    for (unsigned i = 0; i < 1'000; ++i) c.step();
    EXPECT_EQ(old, 0u);
    c.forget();
    c.send(0, this->plain(1, 0, 8));
    EXPECT_TRUE(c.drain());
    EXPECT_EQ(old, 1u);
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
  }
}

// A branch whose link is dead loses its copies, and says so; the others get theirs.
TYPED_TEST(LinksTest, DeadBranchLosesItsCopiesOnly) {
  auto c = this->make("full", 5);
  this->groups(c);
  ASSERT_TRUE(c.wait_up());
  c.cut(0, 1);  // between 0 and 2
  for (unsigned i = 0; i < 1000 && c.state(0, 1) != links_dead; ++i) c.step();
  ASSERT_EQ(c.state(0, 1), links_dead);
  constexpr unsigned packets = 20;
  for (unsigned i = 0; i < packets; ++i) c.multicast(0, this->plain(0, 0, i % 3 ? 8 : 1));
  for (unsigned i = 0; i < 3000; ++i) c.step();
  EXPECT_EQ(c.under_way(), packets);
  EXPECT_EQ(c.count().no_route, packets);
  EXPECT_EQ(c.count().stores_lost, packets);
  EXPECT_EQ(c.errors(), 0u) << c.first_error();
  c.forget();
}

// A load that is offered next to a store to a group with a dead branch leaves once, as it is.
TYPED_TEST(LinksTest, LoadsBesideADeadBranchLeaveOnce) {
  auto c = this->make("full", 5);
  this->groups(c);
  ASSERT_TRUE(c.wait_up());
  c.cut(0, 0);  // between 0 and 1: the first branch
  for (unsigned i = 0; i < 1000 && c.state(0, 0) != links_dead; ++i) c.step();
  ASSERT_EQ(c.state(0, 0), links_dead);
  uint64_t loads = 0;
  c.on_arrival = [&](unsigned, const nic::packet& p) { loads += p.vc % unit_channels == 1; };
  constexpr unsigned rounds = 300;
  for (unsigned i = 0; i < rounds; ++i) {
    auto load = this->plain(i % 3 ? 2 : 3, 1, 0);
    load.addr = 8ull * i;
    c.send(0, load);
    c.multicast(0, this->plain(0, 0, i % 4 ? 48 : 2));
    for (unsigned k = unsigned(c.rng()() % 120); k > 0; --k) c.step();
  }
  for (unsigned i = 0; i < 60'000 && c.under_way() != rounds; ++i) c.step();
  EXPECT_EQ(c.under_way(), rounds);  // the copies for 1
  EXPECT_EQ(loads, rounds);
  EXPECT_EQ(c.errors(), 0u) << c.first_error();
  c.forget();
}

// Cut under load: what is lost is reported, and no copy stands still.
TYPED_TEST(LinksTest, CutLinkHoldsNoCopies) {
  for (unsigned round = 0; round < 4; ++round) {
    auto c = this->make("torus:2x2x2", 8);
    this->groups(c);
    ASSERT_TRUE(c.wait_up());
    c.offers = 1;
    for (unsigned i = 0; i < 120; ++i)  // more than can be through at the cut
      for (unsigned n = 0; n < 8; ++n) c.random_multicast(n);
    for (unsigned i = 0; i < 150 + 37 * round; ++i) c.step();
    c.cut(0, 0);
    const uint64_t there = c.under_way();
    for (unsigned i = 0; i < 10'000; ++i) c.step();
    const uint64_t lost = c.under_way();
    EXPECT_LT(lost, there / 2);
    EXPECT_GT(lost, 0u);
    EXPECT_GT(c.count().stores_lost, 0u);
    EXPECT_LE(c.count().stores_lost, lost);
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
    c.forget();
    c.send(3, this->plain(2, 0, 8));  // nothing holds the others up
    EXPECT_TRUE(c.drain());
  }
}

// Packets that the table does not allow are dropped with an event: an unknown group, a number beyond the table, a
// sender that is not the root, a packet that came by another link, one in another virtual channel, one without a hop
// left.
TYPED_TEST(LinksTest, ForgedPacketsForGroupsAreReported) {
  auto c = this->make("ring", 5);
  c.group(0, {1, 2, 3, 4});
  ASSERT_TRUE(c.wait_up());
  const auto lost = [&](unsigned from, nic::packet p, unsigned stores) {
    const auto before = c.count();
    p.op |= 0x80;
    c.send(from, p);
    for (unsigned i = 0; i < 400; ++i) c.step();
    EXPECT_EQ(c.count().no_route - before.no_route, 1u);
    EXPECT_EQ(c.count().stores_lost - before.stores_lost, stores);
    EXPECT_EQ(c.under_way(), 1u);
    c.forget();
  };
  lost(0, this->plain(1, 0, 8), 1);   // a group without a line
  lost(0, this->plain(64, 0, 8), 1);  // no such group
  lost(2, this->plain(0, 0, 8), 1);   // not the root
  // A line of node 4 lets it send to the group of 0: node 3 gets that over the wrong link.
  const auto tree = c.shape().tree(0, std::vector<unsigned>{1, 2, 3, 4});
  fabric::group_line forged{.node = 4, .branches = fabric::group_line::branch(0, 1)};  // to node 0
  c.group_line(0, forged);
  lost(4, this->plain(0, 0, 8), 1);
  for (const auto& line : tree)
    if (line.node == 4) c.group_line(0, line);
  // A loop of lines ends: 1 and 2 send it to each other.
  c.group_line(7, {.node = 0, .branches = fabric::group_line::branch(0, 1)});
  c.group_line(7, {.node = 1, .lane = 1, .port = 1, .branches = fabric::group_line::branch(0, 1)});
  c.group_line(7, {.node = 2, .lane = 1, .port = 1, .branches = fabric::group_line::branch(1, 0)});
  c.group_line(7, {.node = 1, .lane = 0, .port = 0, .branches = fabric::group_line::branch(0, 0)});
  c.group_line(7, {.node = 2, .lane = 0, .port = 1, .branches = fabric::group_line::branch(1, 0)});
  const auto before = c.count().no_route;
  auto p = this->plain(7, 0, 8);
  p.op = 0x80;
  c.send(0, p);
  for (unsigned i = 0; i < 20'000; ++i) c.step();
  EXPECT_EQ(c.count().no_route - before, 1u);
  EXPECT_EQ(c.errors(), 0u) << c.first_error();
  c.forget();
}

// A node stops accepting posted packets. After the cut, packets for other nodes pass through it; packets for this node
// are lost and reported. The offered packet does not change, and is delivered whole when the node accepts it. Later
// packets are delivered after `resume`. Without a limit all packets are blocked.
TYPED_TEST(LinksTest, UnitsThatTakeNothingAreCutOff) {
  for (const unsigned limit : {0u, 2u}) {
    auto c = this->make("ring", 4);
    ASSERT_TRUE(c.wait_up());
    for (unsigned n = 0; n < 4; ++n) c.watchdog(n, limit);
    c.offers = 1;
    uint64_t others = 0, deaf = 0;
    c.on_arrival = [&](unsigned at, const nic::packet&) { ++(at == 2 ? deaf : others); };
    c.deaf(2, 1);
    constexpr unsigned packets = 120;
    for (unsigned i = 0; i < packets; ++i) {
      for (const unsigned from : {0u, 1u, 3u}) c.send(from, this->plain(2, 0, 40 + i % 20));
      c.send(1, this->plain(3, i % 4, i % 4 == 1 ? 0 : 30));  // through 2
      c.send(3, this->plain(1, i % 4, i % 4 == 1 ? 0 : 30));
    }
    for (unsigned i = 0; i < 15'000 && others < 2 * packets; ++i) c.step();
    EXPECT_EQ(deaf, 0u);
    EXPECT_EQ(c.cut_off(2), limit != 0);
    EXPECT_EQ(c.count().cut, limit != 0);
    if (limit == 0) {
      EXPECT_LT(others, 2 * packets);
      continue;
    }
    EXPECT_EQ(others, 2 * packets);
    for (unsigned i = 0; i < 5'000; ++i) c.step();
    EXPECT_EQ(c.count().no_route, 3 * packets - 1);
    EXPECT_EQ(c.count().stores_lost, 3 * packets - 1);
    c.deaf(2, 0);
    for (unsigned i = 0; i < 500; ++i) c.step();
    EXPECT_EQ(deaf, 1u);
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
    c.send(0, this->plain(2, 3, 8));
    for (unsigned i = 0; i < 500; ++i) c.step();
    EXPECT_EQ(deaf, 1u) << "still cut off";
    c.forget();
    c.watchdog(2, limit, true);
    EXPECT_FALSE(c.cut_off(2));
    c.send(0, this->plain(2, 0, 8));
    EXPECT_TRUE(c.drain());
    EXPECT_EQ(deaf, 2u);
  }
}

// Units that accept all virtual channels but one are cut off in all of them, in the middle of packets: each packet
// arrives whole and once, or is lost and reported.
TYPED_TEST(LinksTest, PacketsEndWholeAtACut) {
  for (unsigned round = 0; round < 4; ++round) {
    auto c = this->make("ring", 4);
    ASSERT_TRUE(c.wait_up());
    for (unsigned i = 0; i < 37 * round; ++i) c.step();
    c.watchdog(2, 2);
    c.offers = 1;
    c.deaf(2, 1);
    uint64_t arrived = 0;
    c.on_arrival = [&](unsigned, const nic::packet&) { ++arrived; };
    constexpr unsigned packets = 250;  // more than arrive until the cut
    c.send(1, this->plain(2, 0, 8));
    for (unsigned i = 0; i < packets; ++i)
      for (const unsigned from : {1u, 3u}) c.send(from, this->plain(2, from == 1 ? 2 : 3, 5 + i % 40));
    for (unsigned i = 0; i < 10'000 && !c.cut_off(2); ++i) c.step();
    ASSERT_TRUE(c.cut_off(2));
    EXPECT_GT(arrived, 0u);
    for (unsigned i = 0; i < 15'000; ++i) c.step();
    EXPECT_GT(c.count().no_route, 0u);
    EXPECT_EQ(arrived + c.count().no_route, 2 * packets);  // the other one is still on offer
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
    c.forget();
  }
}

TYPED_TEST(LinksTest, PacketWithoutRouteIsReported) {
  auto c = this->make("ring", 5);
  ASSERT_TRUE(c.wait_up());
  c.route(0, 2, std::nullopt);          // at the source
  c.route(4, 2, topology::step{0, 0});  // 0 and 4 send it to each other
  c.route(0, 3, topology::step{5, 0});  // a link that is down
  c.send(0, this->plain(2, 0, 8));
  c.send(0, this->plain(3, 3, 8));
  c.send(0, this->plain(63, 2, 0));
  for (unsigned i = 0; i < 500; ++i) c.step();
  EXPECT_EQ(c.count().no_route, 3u);
  EXPECT_EQ(c.count().stores_lost, 1u);
  c.route(0, 2, topology::step{1, 0});
  c.send(0, this->plain(2, 0, 8));  // a loop of routes: it ends after 255 hops
  for (unsigned i = 0; i < 20'000; ++i) c.step();
  EXPECT_EQ(c.count().no_route, 4u);
  EXPECT_EQ(c.count().stores_lost, 2u);
  c.forget();
}

}  // namespace
}  // namespace ggas::test
