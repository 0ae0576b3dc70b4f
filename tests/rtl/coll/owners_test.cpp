// SPDX-License-Identifier: Apache-2.0
// The collective unit when a group passes from one owner to the next, and when registers change while the group is in
// use.
#include "tests/rtl/coll/suite.hpp"

namespace ggas::test::coll {
namespace {

template <class U>
class CollOwnersTest : public CollTest<U> {
 public:
  static constexpr group_config alone(unsigned owner, unsigned epoch) {
    return {
        .number = 3, .epoch = epoch, .owner = owner, .block = 1, .domain = 100 + owner, .result = owner * 0x10'0000};
  }
  static demand of_words(unsigned words, uint64_t first) {
    demand x{{.words = words, .op = sum, .kind = uint64, .contributes = true, .wants = true}};
    for (unsigned i = 0; i < words; ++i) x.data.push_back(first + i);
    return x;
  }
  // As docs/memory-map.md has it.
  void stop(auto& net, unsigned node, unsigned group) {
    auto& n = *net.nodes[node];
    n.write(net.d, group, 0, 0);
    unsigned tries = 0;
    while (!(n.read(net.d, group, 4) >> 33 & 1) && tries < 5000) net.step(), ++tries;
    EXPECT_LT(tries, 5000u) << "node " << node << " does not stop";
  }
};
TYPED_TEST_SUITE(CollOwnersTest, units);

// An operation starts when each of its words has arrived, even if others arrived several times: words that a former
// owner has left are not used.
TYPED_TEST(CollOwnersTest, WordsOfAFormerOwnerStayAway) {
  typename TestFixture::network net(1);
  auto& n = *net.nodes[0];
  for (unsigned life = 0; life < 40; ++life) {
    const group_config a = this->alone(2 * life, life), b = this->alone(2 * life + 1, life + 100);
    n.configure(net.d, a);
    const demand secret = this->of_words(32, 0xaaaa'0000'0000), own = this->of_words(1 + unsigned(net.d.below(32)), 1);
    for (unsigned i = 0; i < 32; ++i)  // all but the command, or some of them and the command
      if (life % 2 || net.d.chance(60)) n.push(a.owner, a.block, 1 + i, std::span(&secret.data[i], 1));
    if (life % 2 == 0) n.push(a.owner, a.block, 0, std::vector{secret.command()});
    ASSERT_TRUE(net.settle());
    this->stop(net, 0, a.number);

    n.mem = {};
    n.configure(net.d, b);
    n.push(b.owner, b.block, 0, std::vector{own.command()});
    std::vector<unsigned> order(own.words);
    for (unsigned i = 0; i < own.words; ++i) order[i] = i;
    shuffle(order, net.d);
    for (unsigned i = 0; i + 1 < own.words; ++i)  // each some times, but the last one not at all
      for (unsigned again = 0; again < 1 + net.d.below(40); ++again)
        n.push(b.owner, b.block, 1 + order[i], std::span(&own.data[order[i]], 1));
    if (own.words == 1) n.push(b.owner, b.block, 2, std::vector<uint64_t>(31, 7));  // words it did not ask for
    ASSERT_TRUE(net.settle());
    EXPECT_TRUE(n.mem.words().empty()) << "life " << life << ": started without word " << order.back();
    n.push(b.owner, b.block, 1 + order.back(), std::span(&own.data[order.back()], 1));
    ASSERT_TRUE(net.settle());
    EXPECT_EQ(n.mem.qword(b.result + 0x200), 1u);
    for (unsigned i = 0; i < own.words; ++i) EXPECT_EQ(n.mem.qword(b.result + 8 * i), own.data[i]) << i;
    this->stop(net, 0, b.number);
    n.mem = {};
    ASSERT_FALSE(::testing::Test::HasFailure()) << "life " << life;
  }
}

// A group is switched off, or its registers are written, while its packets leave: Each packet arrives unchanged, with
// the group's domain and epoch, at the nodes of its tree. The next use of the group starts from zero.
TYPED_TEST(CollOwnersTest, RegistersChangeUnderTraffic) {
  typename TestFixture::network net(4);
  net.pace(40);
  for (unsigned life = 0; life < 60; ++life) {
    const auto tree = net.tree(3, life, 2);
    for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
    uint64_t packets = 0;
    net.watch = [&](const packet& p) {
      ++packets;
      const auto from = tree.find(p.src);
      ASSERT_NE(from, tree.end());
      const group_config& g = from->second;
      EXPECT_EQ(p.domain, g.domain);
      EXPECT_EQ(p.tag, g.epoch << 8 | g.number);
      if (p.is(nic::op::coll_up))
        EXPECT_EQ(p.dst, g.parent);
      else
        EXPECT_TRUE(std::ranges::count(g.children, p.dst) == 1);
    };
    {
      players play(net, {tree}, 1000);
      play.play(unsigned(300 + net.d.below(600)));
    }
    if (life % 2)
      for (unsigned i = 0; i < 20; ++i) {  // what is no stop changes nothing
        const auto& [n, g] = *std::next(tree.begin(), long(net.d.below(tree.size())));
        const unsigned word = unsigned(net.d.below(4));
        net.nodes[n]->write(net.d, g.number, word, net.d.bits() | (word == 0));
        net.step();
      }
    EXPECT_GT(packets, 0u);
    for (const auto& [n, g] : tree) this->stop(net, n, g.number);
    ASSERT_TRUE(net.settle());
    net.watch = {};
    for (auto& n : net.nodes) {
      EXPECT_EQ(n->read(net.d, 3, 4), uint64_t{1} << 33) << "not as new";
      n->mem = {}, n->ups = {};
    }
    ASSERT_FALSE(::testing::Test::HasFailure()) << "life " << life;
  }
}

// A contribution counts only if domain, epoch, group and sender are right: one of them is wrong each time.
TYPED_TEST(CollOwnersTest, OnlyMembersOfThisLifeContribute) {
  typename TestFixture::network net(3);
  const group_config root{
      .number = 2, .epoch = 9, .owner = 5, .block = 0, .domain = 77, .children = {1}, .result = 0x4000};
  auto& n = *net.nodes[0];
  n.write(net.d, 2, 2, 0x2222'0000'0002'0001);  // a second child that does not count
  n.write(net.d, 2, 3, root.result);
  n.write(net.d, 2, 0, root.ctrl());
  n.start(net.d, root, {});
  packet good;
  good.dst = 0, good.src = 1, good.vc = 3, good.domain = 77, good.op = uint8_t(nic::op::coll_up);
  good.tag = 9 << 8 | 2;
  for (unsigned fault = 0; fault < 5; ++fault) {
    packet p = good;
    if (fault == 0) p.domain = 78;
    if (fault == 1) p.tag = 8 << 8 | 2;
    if (fault == 2) p.tag = 9 << 8 | 3;
    if (fault == 3) p.src = 2;
    if (fault == 4) p.op = uint8_t(nic::op::coll_down);
    n.rx.push(p);
    ASSERT_TRUE(net.settle());
    EXPECT_EQ(n.ev_packet, fault + 1) << "fault " << fault;
    EXPECT_TRUE(n.mem.words().empty()) << "fault " << fault;
  }
  n.rx.push(good);
  ASSERT_TRUE(net.settle());
  EXPECT_EQ(n.mem.qword(root.result + 0x200), 1u);
}

// A write that changes parts of a word, or that is no word, starts nothing and leaves no mark.
TYPED_TEST(CollOwnersTest, PartsOfWordsAreRefused) {
  typename TestFixture::network net(1);
  auto& n = *net.nodes[0];
  const group_config g = this->alone(5, 1);
  n.configure(net.d, g);
  const demand x = this->of_words(4, 1);
  std::vector<uint64_t> words{x.command()};
  words.insert(words.end(), x.data.begin(), x.data.end());
  uint64_t refused = 0;
  for (unsigned fault = 0; fault < 8; ++fault) {
    const unsigned enables = 0xf & ~(1u << fault % 4);
    n.push(g.owner, g.block, 0, words, fault < 4 ? enables : 0xf, fault < 4 ? 0xf : enables);
    ++refused;
    ASSERT_TRUE(net.settle());
    EXPECT_EQ(n.ev_page, refused) << "fault " << fault;
    EXPECT_TRUE(n.mem.words().empty()) << "fault " << fault;
  }
}

// What a broken group informed its neighbours just before the route went away again may be lost: they receive it again.
TYPED_TEST(CollOwnersTest, ReportedAgainBehindASecondLossOfTheRoute) {
  for (unsigned wait = 0; wait < 40; ++wait) {
    typename TestFixture::network net(2);
    net.d = dice(seed() + wait);
    const auto tree = net.tree(4, 1, 2);
    for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
    const unsigned child = tree.at(0).parent ? 0 : 1, root = 1 - child;
    net.nodes[child]->start(net.d, tree.at(child), {});
    ASSERT_TRUE(net.settle());
    net.nodes[child]->v.route_i = 0;  // while it waits for the result
    for (unsigned i = 0; i < 10; ++i) net.step();
    net.dead = {{child, root}};
    net.nodes[child]->v.route_i = 1;
    for (unsigned i = 0; i < wait; ++i) net.step();
    net.nodes[child]->v.route_i = 0;
    for (unsigned i = 0; i < 200; ++i) net.step();
    net.dead.clear();
    net.nodes[child]->v.route_i = 1;
    net.nodes[root]->start(net.d, tree.at(root), {});
    ASSERT_TRUE(net.settle());
    // The root's first operation may have ended well with the contribution that came before.
    const uint64_t flag = net.nodes[root]->mem.qword(tree.at(root).result + 0x200);
    ASSERT_EQ(uint32_t(flag), 1u);
    if (flag >> 32 == 0) {
      net.nodes[root]->start(net.d, tree.at(root), {});
      ASSERT_TRUE(net.settle());
      EXPECT_EQ(net.nodes[root]->mem.qword(tree.at(root).result + 0x200), 2 | uint64_t{link_down} << 32) << wait;
    }
  }
}

}  // namespace
}  // namespace ggas::test::coll
