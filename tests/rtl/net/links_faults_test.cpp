// SPDX-License-Identifier: Apache-2.0
// Links that are cut, nodes that take nothing, packets without a route (docs/network.md). GGAS_SEED sets the seed.
#include "tests/rtl/net/links_suite.hpp"

namespace ggas::test {
namespace {

TYPED_TEST_SUITE(LinksTest, widths);

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
