// SPDX-License-Identifier: Apache-2.0
// Links, routes and crossbar of a NIC with six links, in clusters of up to nine nodes (docs/network.md). GGAS_SEED sets
// the seed.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#if !VM_COVERAGE
#include "Vlinks512.h"
#endif
#include "Vlinks64.h"
#include "tests/rtl/net/cluster.hpp"

namespace ggas::test {
namespace {

uint64_t seed() {
  const char* e = std::getenv("GGAS_SEED");
  return e ? std::strtoull(e, nullptr, 0) : 1;
}

using cluster64 = cluster<Vlinks64, 64>;

template <class C>
struct LinksTest : testing::Test {
  static C make(const char* text, unsigned nodes) { return C(topology::parse(text, nodes).value(), seed()); }
  static nic::packet plain(unsigned to, unsigned vc, unsigned dws) {
    nic::packet p;
    p.dst = uint16_t(to);
    p.vc = uint8_t(vc);
    p.len_dw = uint16_t(dws);
    p.data.assign(dws, 0x12345678);
    return p;
  }
  static void traffic(C& c, unsigned packets) {
    for (unsigned i = 0; i < packets; ++i) {
      const unsigned from = unsigned(c.rng()() % c.shape().nodes());
      const unsigned to = unsigned(c.rng()() % (c.shape().nodes() - 1));
      c.random_packet(from, to < from ? to : to + 1);
    }
  }
  static void all_arrive(C& c, unsigned packets) {
    ASSERT_TRUE(c.wait_up());
    traffic(c, packets);
    ASSERT_TRUE(c.drain()) << c.under_way() << " packets are stuck";
    EXPECT_EQ(c.errors(), 0u) << c.first_error();
    EXPECT_EQ(c.count().stores_lost + c.count().no_route + c.count().bad + c.count().dead, 0u);
    EXPECT_EQ(c.count().tx_packets, c.count().rx_packets);
    EXPECT_GE(c.count().tx_packets, packets);
  }
};
#if VM_COVERAGE
using widths = testing::Types<cluster64>;
#else
using cluster512 = cluster<Vlinks512, 512>;
using widths = testing::Types<cluster64, cluster512>;
#endif
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
    if (std::string_view(s.text) == "full") EXPECT_EQ(c.overtaken(), 0u);  // no second choices
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

// The same with answers that may pass others, and nearly nothing else, in networks with second choices: no circle, what
// has an order keeps it, and some do pass.
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
    for (unsigned i = 0; i < (TypeParam::words == 2 ? 30u : 20u) * s.nodes; ++i) {
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

// The first choice is dead: who may take the second one arrives, the others are told; without both all are.
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
  for (unsigned i = 0; i < 1500; ++i)
    for (unsigned at = 0; at < 6; ++at) c.send(at, this->plain((at + 2) % 6, 2, 64));
  EXPECT_FALSE(c.drain(3000));
}

TYPED_TEST(LinksTest, HopTakesFewCycles) {
  auto c = this->make("ring", 6);
  ASSERT_TRUE(c.wait_up());
  c.offers = c.takes = c.phy = 1;
  std::array<uint64_t, 3> cycles{};
  for (unsigned hops = 1; hops <= 3; ++hops) {
    cycles[hops - 1] = ~uint64_t{0};
    for (unsigned again = 0; again < 8; ++again) {  // a CTRL flit may be in front
      for (unsigned i = 0; i < 100; ++i) c.step();
      c.send(0, this->plain(hops, 1, 0));
      ASSERT_TRUE(c.drain());
      cycles[hops - 1] = std::min(cycles[hops - 1], c.arrived_at - c.left_at);
    }
  }
  const uint64_t flits = TypeParam::words == 2 ? 4 : 1;
  const uint64_t hop = cycles[1] - cycles[0] - c.latency - (flits - 1);  // last flit in to first flit out
  std::cout << "hop " << hop << " cycles, last flit in to first flit out\n";
  EXPECT_EQ(cycles[2] - cycles[1], cycles[1] - cycles[0]);
  EXPECT_LE(hop, 12u);
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
  for (unsigned i = 0; i < 400; ++i) {
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

// A link is cut under load: what it loses is told, and with other routes everybody reaches everybody again.
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

TYPED_TEST(LinksTest, PacketWithoutRouteIsTold) {
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
