// SPDX-License-Identifier: Apache-2.0
// Numbers of nodes up to the last one this NIC can reach, numbers after it, and more nodes than a quiet can list.
#include <set>

#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

using nic::net_status;

template <class T>
class smfu_nodes : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  static constexpr unsigned nodes = T::nodes;
  // The node that interval 0 leads to, and the peer.
  void lead_to(unsigned node) {
    b.interval(0, base::window, base::window + base::span, uint16_t(node));
    b.v.peer_node_i = uint16_t(node);
  }
  uint32_t quiet() {
    const size_t before = b.ld_cpl.all.size();
    b.host(quiet_read(9));
    EXPECT_TRUE(b.settle());
    EXPECT_EQ(b.ld_cpl.all.size(), before + 1);
    return b.ld_cpl.all.empty() ? ~0u : b.ld_cpl.all.back().t.data[0];
  }
};
TYPED_TEST_SUITE(smfu_nodes, widths);

TYPED_TEST(smfu_nodes, the_last_two) {
  auto& b = this->b;
  const unsigned own = this->nodes - 1, peer = this->nodes - 2;
  b.cfg.node = uint16_t(own);
  this->lead_to(peer);
  EXPECT_TRUE(b.settle());
  b.clear_outputs();
  b.host(this->store(this->window, 4));
  b.host(this->load(this->window, 2, 7));
  b.host(quiet_read(9));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_p.all.size(), 1u);
  ASSERT_EQ(b.tx_np.all.size(), 2u);
  for (const packet& p : {b.tx_p.all[0].t, b.tx_np.all[0].t, b.tx_np.all[1].t}) {
    EXPECT_EQ(p.dst, peer);
    EXPECT_EQ(p.src, own);
  }
  for (const auto& s : b.tx_np.all) {
    packet r = answer_to(s.t);
    r.dst = uint16_t(own);
    packet forged = r;
    forged.src = uint16_t(peer ^ 0x20);  // a node with nearly that number, and one that cannot be
    b.push(b.rx_rsp, forged);
    forged.src = uint16_t(peer + 0x8000);
    b.push(b.rx_rsp, forged);
    b.push(b.rx_rsp, r);
  }
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.ld_cpl.all.size(), 2u);
  EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_RSP], 4u);
  EXPECT_EQ(b.counters["load_errors"], 0u);
}

// The first number that this NIC does not know, and the highest there is: as if no route led there.
TYPED_TEST(smfu_nodes, numbers_behind_the_last) {
  auto& b = this->b;
  for (unsigned node : {this->nodes, 0xffffu}) {
    if (node < this->nodes || node > 0xffff) continue;
    this->lead_to(node);
    EXPECT_TRUE(b.settle());
    b.clear_outputs();
    b.host(this->store(this->window, 4));
    b.host(this->load(this->window, 2, 7));
    EXPECT_TRUE(b.settle());
    EXPECT_EQ(this->quiet(), uint32_t(net_status::unreachable));
    EXPECT_TRUE(b.tx_p.all.empty());
    EXPECT_TRUE(b.tx_np.all.empty());
    EXPECT_EQ(b.events, (std::vector<logged_event>{{GGAS_EV_STORE_UNREACHABLE, uint16_t(node), 0},
                                                   {GGAS_EV_LOAD_UNREACHABLE, uint16_t(node), 0}}));
  }
}

// Stores of all nodes are refused, quiets of each are reported so once, of others never.
TYPED_TEST(smfu_nodes, lost_stores_of_many) {
  auto& b = this->b;
  std::set<unsigned> lost;
  unsigned reported = 0;
  for (unsigned k = 0; k < 3000; ++k) {
    const unsigned low = b.random(8), node = b.chance(50) ? low : (low + 64 * b.random(this->nodes / 64)) % this->nodes;
    if (b.chance(50)) {
      packet p = net_packet(nic::op::store, uint16_t(node), home_size, 1);
      p.data.resize(1);
      b.push(b.rx_p, p);
      while (!b.rx_p.beats.empty()) b.step();  // the network offers a quiet only then
      lost.insert(node);
    } else {
      const size_t before = b.tx_rsp.all.size();
      b.push(b.rx_np, net_packet(nic::op::quiet, uint16_t(node), 0, 0));
      EXPECT_TRUE(b.settle());
      ASSERT_EQ(b.tx_rsp.all.size(), before + 1);
      const bool due = lost.erase(node);
      ASSERT_EQ(b.tx_rsp.all.back().t.status, uint8_t(due ? net_status::range : net_status::ok)) << node << " at " << k;
      reported += due;
    }
  }
  EXPECT_GT(reported, 100u);
}

// Stores to one node after the other, more than can be listed at a time: rounds are made to free entries, every node is
// asked or reported, and nothing is lost. A node without a route can no longer be asked, which is a failure.
TYPED_TEST(smfu_nodes, one_after_the_other) {
  auto& b = this->b;
  const unsigned many = std::min(this->nodes - 4, 300u);
  nodes world(b);
  world.percent = 100;
  for (unsigned k = 0; k < many; ++k) {
    this->lead_to(3 + k);
    for (unsigned i = 0; i <= k % 3; ++i) b.host(this->store(this->window + 64 * i, 1 + k % 5));
    for (unsigned i = 0; i < 300; ++i) world.step(), b.step();
    ASSERT_TRUE(b.inputs_empty() && !b.v.busy_o) << k;
  }
  EXPECT_EQ(b.tx_p.all.size(), b.stores_pushed());
  EXPECT_EQ(b.tx_np.all.size() + b.event_count[GGAS_EV_QUIET_FAILED] > 0, many > 64) << "rounds without a read";
  EXPECT_TRUE(b.ld_cpl.all.empty());
  b.host(quiet_read(9));
  for (unsigned i = 0; i < 300; ++i) world.step(), b.step();
  ASSERT_EQ(b.ld_cpl.all.size(), 1u);
  EXPECT_EQ(b.ld_cpl.all.back().t.data[0], uint32_t(net_status::link_down)) << "the first error";
  std::multiset<unsigned> asked;
  for (const auto& s : b.tx_np.all) asked.insert(s.t.dst);
  for (const auto& e : b.events)
    if (e.code == GGAS_EV_QUIET_FAILED) asked.insert(e.node);
  EXPECT_LE(asked.size(), many + many / 64) << "a round may begin between two stores to a node";
  for (unsigned k = 0; k < many; ++k) EXPECT_GE(asked.count(3 + k), 1u) << k;
  EXPECT_EQ(this->quiet(), 0u);
}

}  // namespace
}  // namespace ggas::test::smfu
