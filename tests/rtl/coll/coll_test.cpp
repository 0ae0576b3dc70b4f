// SPDX-License-Identifier: Apache-2.0
// The collective unit: random operations of several groups at once, members that run ahead of others, failing
// operations, unauthenticated peers, groups that are stopped and start again.
#include "tests/rtl/coll/suite.hpp"

namespace ggas::test::coll {
namespace {

TYPED_TEST_SUITE(CollTest, units);

// Registers read as written, each half of a word by itself; STATE stays as it is, and what is no register reads 0.
TYPED_TEST(CollTest, RegistersReadAsWritten) {
  typename TestFixture::network net(1);
  auto& n = *net.nodes[0];
  const std::array<uint64_t, 8> kept{0x0000'ffff'ffff'031e, 0xffff, ~0ull, ~0x3ffull};
  std::array<std::array<uint64_t, 8>, groups> want{};
  for (unsigned g = 0; g < groups; ++g) want[g][4] = n.read(net.d, g, 4);
  for (unsigned i = 0; i < 2000; ++i) {
    const unsigned group = unsigned(net.d.below(groups)), word = unsigned(net.d.below(8));
    if (net.d.chance(50)) {
      const unsigned halves = unsigned(net.d.below(4));
      const uint64_t data = net.d.bits() & (word == 0 && halves & 1 ? ~1ull : ~0ull);  // not enabled
      const uint64_t mask = (halves & 1 ? 0xffff'ffff : 0) | (halves & 2 ? 0xffff'ffffull << 32 : 0);
      n.write(net.d, group, word, data, (halves & 1 ? 0x0f : 0) | (halves & 2 ? 0xf0 : 0));
      if (word < 4) want[group][word] = (want[group][word] & ~mask) | (data & mask & kept[word]);
    } else {
      EXPECT_EQ(n.read(net.d, group, word), want[group][word]) << "group " << group << " word " << word;
    }
  }
}

TYPED_TEST(CollTest, OperationsOfManyGroups) {
  for (unsigned turn = 0; turn < 6; ++turn) {
    typename TestFixture::network net(1 + unsigned(turn * 2));
    net.d = dice(seed() + turn);
    if (turn % 2) net.pace(60);
    std::vector<std::map<unsigned, group_config>> groups;
    for (unsigned g = 0; g < 8; g += 1 + turn / 3) groups.push_back(net.tree(g, 7 * g + turn));
    players play(net, std::move(groups), 25);
    ASSERT_TRUE(play.play(400'000)) << "turn " << turn;
    ASSERT_TRUE(net.settle());
    for (auto& n : net.nodes) {
      EXPECT_EQ(n->ev_page, 0u);
      EXPECT_EQ(n->ev_packet, 0u);
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "turn " << turn;
  }
}

// MPS changes at any time: no word of a result is left out, and a write stays as it was offered.
TYPED_TEST(CollTest, SizesChangeUnderTraffic) {
  typename TestFixture::network net(3);
  net.sizes_change = true;
  net.pace(60);
  std::vector<std::map<unsigned, group_config>> groups;
  for (unsigned g = 0; g < 8; ++g) groups.push_back(net.tree(g, 7 * g));
  players play(net, std::move(groups), 40);
  ASSERT_TRUE(play.play(400'000));
  ASSERT_TRUE(net.settle());
}

// Packets are routed around dead links during operations. Packets on a dead link are lost; packets without a route are
// dropped. Every operation ends, with the right result or with ST_LINK_DOWN. Once an operation of a member has ended
// with ST_LINK_DOWN, all its later ones end in the same way. A group for which no member waited continues unchanged. A
// group that starts again works.
TYPED_TEST(CollTest, LedAroundWhatDies) {
  size_t broken = 0, whole = 0;
  for (unsigned turn = 0; turn < 18; ++turn) {
    typename TestFixture::network net(2 + turn % 6 * 2);
    net.d = dice(seed() + 100 + turn);
    if (turn % 2) net.pace(60);
    for (unsigned life = 0; life < 2; ++life) {
      std::vector<std::map<unsigned, group_config>> groups;
      for (unsigned g = 0; g < 8; ++g) groups.push_back(net.tree(g, 7 * g + turn + life));
      manager lead(net, 1 + turn % 4);
      players play(net, groups, 25);
      ASSERT_TRUE(play.play(400'000, life == 0 ? &lead : nullptr)) << "turn " << turn;
      ASSERT_TRUE(net.settle());
      broken += play.broken(), whole += life == 0 ? play.whole() : 0;
      for (auto& n : net.nodes) {
        EXPECT_EQ(n->ev_page, 0u);
        EXPECT_EQ(n->ev_packet, 0u);
        for (const auto& tree : groups)
          for (const auto& [k, g] : tree)
            if (k == n->number) n->write(net.d, g.number, 0, g.ctrl() & ~uint64_t{1});
        n->mem = {}, n->ups = {};
      }
      ASSERT_FALSE(::testing::Test::HasFailure()) << "turn " << turn << " life " << life;
    }
  }
  std::printf("%zu groups broken, %zu whole\n", broken, whole);
  EXPECT_GT(broken, 0u);
  EXPECT_GT(whole, 0u);
}

// What waits for its turn while there is no route is not lost. A node alone needs none.
TYPED_TEST(CollTest, StopsHoldContributions) {
  typename TestFixture::network net(3);
  const auto tree = net.tree(2, 1, 3);
  for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
  const group_config alone{.number = 5, .epoch = 1, .owner = 200, .block = 1, .domain = 5, .result = 0x4'0000'0000};
  net.nodes[1]->configure(net.d, alone);
  for (auto& n : net.nodes) n->v.route_i = 0;
  for (const auto& [n, g] : tree) net.nodes[n]->start(net.d, g, {});
  net.nodes[1]->start(net.d, alone, {});
  ASSERT_TRUE(net.settle());
  for (const auto& [n, g] : tree) EXPECT_EQ(net.nodes[n]->mem.qword(g.result + 0x200), 0u);
  EXPECT_EQ(net.nodes[1]->mem.qword(alone.result + 0x200), 1u);
  for (auto& n : net.nodes) n->v.route_i = 1;
  ASSERT_TRUE(net.settle());
  for (const auto& [n, g] : tree) EXPECT_EQ(net.nodes[n]->mem.qword(g.result + 0x200), 1u);
}

// A contribution of which net drops the first beat is lost, though there is a route again before its last one.
TYPED_TEST(CollTest, RouteIsAwayForACycle) {
  typename TestFixture::network net(2);
  const auto tree = net.tree(4, 1, 2);
  demand x{{.words = 32, .op = sum, .kind = uint64, .contributes = true, .wants = true}};
  x.data.assign(32, 1);
  for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
  for (const auto& [n, g] : tree) net.nodes[n]->start(net.d, g, x);
  auto& child = *net.nodes[tree.at(0).parent ? 0 : 1];
  child.tx.percent = 0;
  for (unsigned i = 0; i < 1000; ++i) net.step();
  child.tx.percent = 100;
  child.v.route_i = 0;
  net.step();
  child.v.route_i = 1;
  ASSERT_TRUE(net.settle());
  for (const auto& [n, g] : tree)
    EXPECT_EQ(net.nodes[n]->mem.qword(g.result + 0x200), 1 | uint64_t{link_down} << 32) << n;
}

// Cycles of a barrier and of an allreduce of 64 floats in a tree of one parent and four children, without other
// traffic. The bound of the sum is one pass over the words for each child.
TYPED_TEST(CollTest, Cycles) {
  typename TestFixture::network net(5);
  net.delivery = 100;
  std::map<unsigned, group_config> tree;
  for (unsigned n = 0; n < 5; ++n) {
    tree[n] = {.number = 0, .epoch = 1, .owner = 3, .block = 0, .domain = 5, .result = 0x1000};
    if (n) tree[n].parent = 0, tree[0].children.push_back(n);
  }
  for (unsigned n = 0; n < 5; ++n) net.nodes[n]->configure(net.d, tree[n]);
  const auto run = [&](const demand& x, unsigned count) {
    for (auto& n : net.nodes) {
      std::vector<uint64_t> words{x.command()};
      words.insert(words.end(), x.data.begin(), x.data.end());
      n->push(3, 0, 0, std::span(words).first(std::min<size_t>(words.size(), 32)));
      if (words.size() > 32) n->push(3, 0, 32, std::span(words).subspan(32));
    }
    unsigned cycles = 0;
    const auto done = [&](auto& n) { return uint32_t(n->mem.qword(0x1200)) == count; };
    while (!std::ranges::all_of(net.nodes, done) && cycles < 5000) net.step(), ++cycles;
    return cycles;
  };
  demand sums{{.words = 32, .op = sum, .kind = float32, .contributes = true, .wants = true}};
  for (unsigned i = 0; i < 32; ++i) sums.data.push_back(random_word(net.d, float32));
  demand fenced;
  fenced.fenced = true;
  for (auto& n : net.nodes) n->quiet_percent = 100;
  const unsigned barrier = run({}, 1), allreduce = run(sums, 2), behind_fence = run(fenced, 3);
  std::printf("%u bits: barrier %u cycles, fenced %u, allreduce of 64 floats %u\n", TypeParam::width, barrier,
              behind_fence, allreduce);
  // Rows of a packet are used while it arrives. Rows of one child are used while a packet of another child arrives.
  const unsigned most = TypeParam::width == 64 ? 395 : TypeParam::width == 256 ? 179 : 143;
  EXPECT_LE(barrier, 26u);
  EXPECT_LE(behind_fence, barrier + 6);
  EXPECT_LE(allreduce, most);
}

// The first write ever, with an MPS of 128 bytes.
TYPED_TEST(CollTest, TheFirstResultKeepsToTheMps) {
  typename TestFixture::network net(1);
  auto& n = *net.nodes[0];
  n.v.cfg_mps_i = 128;
  const auto tree = net.tree(4, 1);
  demand x{{.words = 32, .op = sum, .kind = uint64, .contributes = true, .wants = true}};
  x.data.assign(32, 7);
  n.configure(net.d, tree.at(0));
  n.start(net.d, tree.at(0), x);
  ASSERT_TRUE(net.settle());
  ASSERT_EQ(n.wr.all.size(), 3u);  // two halves, flag
  for (const auto& w : n.wr.all) EXPECT_LE(w.len_dw, 32u);
}

// A fenced contribution waits for its quiet only in its own group; others continue. Its owner may start no operation
// meanwhile.
TYPED_TEST(CollTest, FencesHoldBackTheirGroupAlone) {
  typename TestFixture::network net(3);
  const auto held = net.tree(1, 3, 3), free = net.tree(6, 4, 3);
  for (const auto& [n, g] : held) net.nodes[n]->configure(net.d, g);
  demand barrier;
  barrier.fenced = true;
  auto& slow = *net.nodes[2];
  slow.quiet_percent = 0;
  for (const auto& [n, g] : held) net.nodes[n]->start(net.d, g, barrier);
  for (unsigned i = 0; i < 2000; ++i) net.step();
  ASSERT_EQ(slow.quiets, std::vector<unsigned>{held.at(2).owner});
  for (auto& n : net.nodes) EXPECT_TRUE(n->mem.words().empty()) << "one has not contributed";
  EXPECT_TRUE(slow.read(net.d, 1, 4) >> 32 & 1) << "open";
  slow.start(net.d, held.at(2), barrier);
  for (unsigned i = 0; i < 100; ++i) net.step();
  EXPECT_EQ(slow.ev_page, 1u);
  {
    players play(net, {free}, 10, 0);
    ASSERT_TRUE(play.play(100'000));
  }
  slow.quiet_answer = [](unsigned) { return ok; };
  for (const auto& [n, g] : held) EXPECT_EQ(net.nodes[n]->mem.qword(g.result + 0x200), 0u);
  slow.quiet_percent = 50;
  ASSERT_TRUE(net.settle());
  for (const auto& [n, g] : held) EXPECT_EQ(net.nodes[n]->mem.qword(g.result + 0x200), 1u);
}

// Every group's fence has its turn, whatever their number; a failure is reported to all members of that group alone.
TYPED_TEST(CollTest, FencesTakeTurns) {
  typename TestFixture::network net(2);
  std::vector<std::map<unsigned, group_config>> groups;
  for (unsigned g = 0; g < 8; ++g) groups.push_back(net.tree(g, 7, 2));
  demand barrier;
  barrier.fenced = true;
  auto& here = *net.nodes[1];
  here.quiet_answer = [&](unsigned page) { return page == groups[5].at(1).owner ? link_down : ok; };
  for (auto& tree : groups)
    for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g), net.nodes[n]->start(net.d, g, barrier);
  ASSERT_TRUE(net.settle());
  EXPECT_EQ(here.quiets.size(), 8u);
  for (unsigned g = 0; g < 8; ++g)
    for (const auto& [n, c] : groups[g])
      EXPECT_EQ(net.nodes[n]->mem.qword(c.result + 0x200), 1 | uint64_t{g == 5 ? link_down : ok} << 32) << g;
}

// The answer to a fence of a former life of the group counts for nothing.
TYPED_TEST(CollTest, StoppedBehindAFence) {
  typename TestFixture::network net(1);
  demand barrier;
  barrier.fenced = true;
  auto& n = *net.nodes[0];
  for (unsigned life = 0; life < 20; ++life) {
    const auto tree = net.tree(4, life);
    const group_config& g = tree.at(0);
    n.configure(net.d, g);
    n.quiet_percent = 0;
    n.quiets.clear();
    n.start(net.d, g, barrier);
    for (unsigned i = 0; i < 50; ++i) net.step();
    ASSERT_EQ(n.quiets.size(), 1u);
    n.write(net.d, 4, 0, g.ctrl() & ~uint64_t{1});
    EXPECT_TRUE(n.read(net.d, 4, 4) >> 33 & 1) << "stopped";
    n.configure(net.d, g);
    n.quiet_answer = [&](unsigned) { return n.quiets.size() == 1 ? link_down : ok; };
    if (life % 2) n.start(net.d, g, barrier);  // before the old answer comes, or after it
    n.quiet_percent = 20;
    ASSERT_TRUE(net.settle());
    EXPECT_EQ(n.mem.qword(g.result + 0x200), life % 2);
    if (life % 2 == 0) n.start(net.d, g, barrier);
    ASSERT_TRUE(net.settle());
    EXPECT_EQ(n.quiets.size(), 2u);
    EXPECT_EQ(n.mem.qword(g.result + 0x200), 1u);
    n.write(net.d, 4, 0, g.ctrl() & ~uint64_t{1});
    n.mem = {};
  }
}

// What does not come from parent, child or owner changes nothing and is reported.
TYPED_TEST(CollTest, UnknownSendersAreRefused) {
  typename TestFixture::network net(3);
  auto tree = net.tree(2, 9, 3);
  for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
  uint64_t packets = 0, pages = 0;
  const auto forge = [&](unsigned to) {
    const group_config& g = tree.at(to);
    packet p;
    p.dst = uint16_t(to), p.src = uint16_t(net.d.below(5)), p.vc = 3, p.domain = uint16_t(g.domain);
    p.op = uint8_t(net.d.chance(50) ? nic::op::coll_up : nic::op::coll_down);
    p.tag = uint16_t(g.epoch << 8 | 2);
    p.addr = net.d.below(0x4000), p.status = uint8_t(net.d.chance(50) ? 0 : net.d.below(16));
    p.len_dw = uint16_t(net.d.below(65));
    switch (net.d.below(4)) {  // one thing at least is wrong
      case 0:
        p.domain ^= uint16_t(1 + net.d.below(65535));
        break;
      case 1:
        p.tag ^= uint16_t((1 + net.d.below(255)) << 8);
        break;
      case 2:
        p.tag ^= uint16_t(1 + net.d.below(7));
        break;
      default:
        p.src = uint16_t(5 + net.d.below(1000));
        break;
    }
    for (unsigned i = 0; i < p.len_dw; ++i) p.data.push_back(uint32_t(net.d.bits()));
    net.nodes[to]->rx.push(p);
    ++packets;
  };
  const auto intrude = [&](unsigned at) {
    const group_config& g = tree.at(at);
    std::vector<uint64_t> words(1 + net.d.below(20), 0x3'0001);
    const bool other_owner = net.d.chance(50);
    net.nodes[at]->push(other_owner ? g.owner ^ 1 : g.owner, other_owner ? g.block : g.block ^ 1, net.d.below(10),
                        words);
    ++pages;
  };
  for (unsigned turn = 0; turn < 300; ++turn) {
    const auto at = unsigned(net.d.below(3));
    net.d.chance(50) ? forge(at) : intrude(at);
  }
  ASSERT_TRUE(net.settle());
  uint64_t reported_packets = 0, reported_pages = 0;
  for (auto& n : net.nodes) {
    reported_packets += n->ev_packet, reported_pages += n->ev_page;
    EXPECT_TRUE(n->mem.words().empty());
  }
  EXPECT_EQ(reported_packets, packets);
  EXPECT_EQ(reported_pages, pages);
  players play(net, {tree}, 5);  // the group has not moved
  ASSERT_TRUE(play.play(100'000));
}

// The owner may not start an operation while his last one is under way, nor write past the data.
TYPED_TEST(CollTest, OwnersKeepToTheRules) {
  typename TestFixture::network net(2);
  auto tree = net.tree(0, 1, 2);
  for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
  const group_config& g = tree.at(0);
  auto& n = *net.nodes[0];
  const std::vector<uint64_t> barrier{0}, much(32, 1);
  n.push(g.owner, g.block, 0, barrier);
  ASSERT_TRUE(net.settle());
  n.push(g.owner, g.block, 0, barrier);   // again, while it waits
  n.push(g.owner, g.block, 33, barrier);  // after the last word
  n.push(g.owner, g.block, 2, much);      // over the last word
  ASSERT_TRUE(net.settle());
  EXPECT_EQ(n.ev_page, 3u);
  net.nodes[1]->push(tree.at(1).owner, tree.at(1).block, 0, barrier);
  ASSERT_TRUE(net.settle());
  for (const auto& [i, c] : tree) {
    EXPECT_EQ(net.nodes[i]->mem.qword(c.result + 0x200), 1u);
  }
}

// A group is switched off during operations and starts again with another epoch: packets of its former use have no
// effect, and after `stopped` nothing is written.
TYPED_TEST(CollTest, StoppedAndStartedAgain) {
  typename TestFixture::network net(6);
  net.pace(70);
  for (unsigned life = 0; life < 40; ++life) {
    auto tree = net.tree(3, life, 2);
    for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
    {
      players play(net, {tree}, 1000);
      play.play(unsigned(200 + net.d.below(1500)));
    }
    for (const auto& [n, g] : tree) {
      auto& here = *net.nodes[n];
      here.write(net.d, 3, 0, g.ctrl() & ~uint64_t{1});
      unsigned tries = 0;
      while (!(here.read(net.d, 3, 4) >> 33 & 1) && tries < 5000) net.step(), ++tries;
      ASSERT_LT(tries, 5000u);
    }
    std::vector<size_t> writes;
    for (auto& n : net.nodes) writes.push_back(n->wr.all.size());
    ASSERT_TRUE(net.settle());
    for (size_t n = 0; n < writes.size(); ++n) EXPECT_EQ(net.nodes[n]->wr.all.size(), writes[n]);
    for (auto& n : net.nodes) n->mem = {}, n->wr.all.clear();
  }
}

// A stop of the NIC during operations: operations in progress end, then it refuses everything and writes nothing. The
// other nodes wait for it, and none hangs.
TYPED_TEST(CollTest, StopOfTheNic) {
  typename TestFixture::network net(4);
  net.pace(70);
  auto tree = net.tree(1, 1, 4);
  for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
  {
    players play(net, {tree}, 1000);
    play.play(700);
  }
  auto& stopped = *net.nodes[2];
  stopped.v.stop_i = 1;
  for (unsigned i = 0; i < 200 && (i == 0 || stopped.v.writes_o); ++i) net.step();
  ASSERT_FALSE(stopped.v.writes_o);
  const size_t writes = stopped.wr.all.size();
  const uint64_t refused = stopped.ev_page;
  stopped.push(tree.at(2).owner, tree.at(2).block, 0, std::vector<uint64_t>{0});
  ASSERT_TRUE(net.settle());
  EXPECT_EQ(stopped.wr.all.size(), writes);
  EXPECT_GT(stopped.ev_page, refused);
}

}  // namespace
}  // namespace ggas::test::coll
