// SPDX-License-Identifier: Apache-2.0
// Cycles of a hop, rates of links and their shares (docs/network.md). GGAS_SEED sets the seed.
#include <bit>
#include <iostream>

#include "tests/rtl/net/links_suite.hpp"

namespace ggas::test {
namespace {

TYPED_TEST_SUITE(LinksTest, widths);

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

}  // namespace
}  // namespace ggas::test
