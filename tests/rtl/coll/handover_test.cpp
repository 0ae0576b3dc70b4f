// SPDX-License-Identifier: Apache-2.0
// Groups that go from owner to owner, in the middle of operations.
#include "tests/rtl/handover.hpp"
#include "tests/rtl/coll/suite.hpp"

namespace ggas::test::coll {
namespace {

template <class U>
class CollHandoverTest : public CollTest<U> {
 public:
  static void step(auto& net, view& seen) {
    net.step();
    for (auto& n : net.nodes) {
      seen.see(n->v.tx_valid_o && n->v.tx_sop_o, n->v.tx_hdr_o);
      seen.see(n->v.tx_valid_o, n->v.tx_data_o);
      seen.see(n->v.wr_valid_o && n->v.wr_sop_o, n->v.wr_hdr_o);
      seen.see(n->v.wr_valid_o, n->v.wr_data_o);
      seen.see(n->v.event_valid_o, n->v.event_o);
      seen.see(n->v.quiet_o, n->v.quiet_page_o);
    }
  }
  // An operation of which members may leave words out.
  static void operate(auto& net, const std::map<unsigned, group_config>& tree, uint64_t secret, unsigned missing) {
    demand x = random_demand(net.d);
    x.op = bit_xor, x.kind = uint64, x.wants = true;
    for (const auto& [n, g] : tree) {
      x.data.clear();
      for (unsigned i = 0; i < x.words; ++i) x.data.push_back(net.d.bits() ^ secret);
      net.nodes[n]->push(g.owner, g.block, 0, std::vector{x.command()});
      for (unsigned i = 0; i < x.words; ++i)
        if (!net.d.chance(missing)) net.nodes[n]->push(g.owner, g.block, 1 + i, std::span(&x.data[i], 1));
    }
  }
};
TYPED_TEST_SUITE(CollHandoverTest, units);

TYPED_TEST(CollHandoverTest, NothingIsLeft) {
  for (unsigned turn = 0; turn < 12; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      typename TestFixture::network net(3);
      net.d = dice(seed() + turn);
      net.pace(60);
      two_owners seen;
      for (unsigned owner = 0; owner < 2; ++owner) {
        view& now = owner ? seen.next : seen.former;
        const auto tree = net.tree(3, 1 + owner, 2);
        for (const auto& [n, g] : tree) net.nodes[n]->configure(net.d, g);
        for (unsigned i = 0; i < 3; ++i) {
          TestFixture::operate(net, tree, owner ? 0 : secret, i == 0 ? 0 : owner ? 5 : 20);
          const unsigned cycles = owner || i == 0 ? 2000 : unsigned(net.d.below(200));
          for (unsigned c = 0; c < cycles; ++c) TestFixture::step(net, now);
        }
        for (const auto& [n, g] : tree) {
          net.nodes[n]->write(net.d, 3, 0, 0);
          while (!(net.nodes[n]->read(net.d, 3, 4) >> 33 & 1)) net.step();
          now.see(true, net.nodes[n]->read(net.d, 3, 4));
        }
        for (unsigned c = 0; c < 500; ++c) net.step();  // packets of the former life are met and dropped
      }
      return seen;
    });
}

}  // namespace
}  // namespace ggas::test::coll
