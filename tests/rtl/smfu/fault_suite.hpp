// SPDX-License-Identifier: Apache-2.0
// Faults, and the defined result of each: event, counter, error completion. Nothing hangs, and the next access works:
// every test ends with one.
#pragma once

#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {

using nic::net_status;
using pcie::cpl_status;

template <class T>
class smfu_fault : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  // Every fault must leave the unit as good as before.
  void TearDown() override {
    b.v.link_up_i = 1;
    b.cfg.ingress = 1;
    b.cfg.mps = 256;
    b.give_out(home_export, home_base, home_size, home_domain);
    ASSERT_TRUE(b.settle());
    b.run(200);
    b.clear_outputs();
    const tlp t = this->load(base::window + 0x40, 16, 77);
    b.host(t);
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x100, 8));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.tx_np.all.size(), 1u);
    b.push(b.rx_rsp, answer_to(b.tx_np.all[0].t));
    memory host(b);
    for (int i = 0; i < 200; ++i) host.step(), b.step();
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.ld_cpl.all.size(), 1u);
    EXPECT_EQ(b.ld_cpl.all[0].t.kind, tlp_kind::cpld);
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    EXPECT_EQ(b.tx_rsp.all[0].t.data.size(), 8u);
    EXPECT_TRUE(b.events.empty());
    EXPECT_FALSE(b.v.timer_o);
  }
  // Puts a load on the network and returns its packets.
  std::vector<packet> start(const tlp& t) {
    b.clear_outputs();
    b.host(t);
    EXPECT_TRUE(b.settle());
    std::vector<packet> out;
    for (const auto& s : b.tx_np.all) out.push_back(s.t);
    return out;
  }
  // One remote load at the target; its reads.
  std::vector<tlp> start_target(unsigned dw = 16, uint64_t addr = 0x200) {
    b.clear_outputs();
    packet p = net_packet(nic::op::load, 2, addr, dw);
    p.tag = 0x4242;
    b.push(b.rx_np, p);
    EXPECT_TRUE(b.settle());
    std::vector<tlp> out;
    for (const auto& s : b.tgt_req.all) out.push_back(s.t);
    return out;
  }
  void run_until(uint64_t cycle) {
    while (b.now < cycle) b.step();
  }
  // The cycle after the target's first answer.
  uint64_t wait_for_answer() {
    for (const uint64_t limit = b.now + 20'000; b.tx_rsp.all.empty() && b.now < limit;) b.step();
    return b.now;
  }
  tlp completion(const tlp& read, unsigned dw, cpl_status status = cpl_status::sc) {
    tlp c;
    c.kind = dw ? tlp_kind::cpld : tlp_kind::cpl;
    c.status = status;
    c.tag = read.tag;
    c.len_dw = uint16_t(dw);
    for (unsigned i = 0; i < dw; ++i) c.data.push_back(content(0, read.addr + 4 * i));
    return c;
  }
  void expect_response(net_status status) {
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    EXPECT_EQ(b.tx_rsp.all[0].t.status, uint8_t(status));
    EXPECT_EQ(b.tx_rsp.all[0].t.tag, 0x4242u);
    EXPECT_EQ(b.tx_rsp.all[0].t.dst, 2u);
    EXPECT_EQ(b.tx_rsp.all[0].t.len_dw, 0u);
  }
};
TYPED_TEST_SUITE(smfu_fault, widths);

}  // namespace ggas::test::smfu
