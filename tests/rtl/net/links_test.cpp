// SPDX-License-Identifier: Apache-2.0
// Packets through the links, routes and crossbars of clusters of up to nine NICs with six links (docs/network.md): all
// arrive, in order, and full buffers do not stand still. GGAS_SEED sets the seed.
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

}  // namespace
}  // namespace ggas::test
