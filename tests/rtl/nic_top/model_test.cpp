// SPDX-License-Identifier: Apache-2.0
// The reference model alone, end to end: what the RTL is compared with must itself keep its promises.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

TEST(Model, RandomTraffic) {
  for (unsigned width : {64u, 256u, 512u}) {
    rig r({.width = width, .mask_mode = width == 256, .seed = base_seed() + width, .model = true});
    ASSERT_TRUE(r.set_up()) << r.report();
    traffic t(r, {}, base_seed() + width);
    t.run(40'000);
    t.check();
    EXPECT_CLEAN(r);
  }
}

TEST(Model, StoreIsCutAtMtuOfPayload) {
  nic::reference_model m(64, {.mps = 512, .mrrs = 512, .bus_id = 1});
  const auto set = [&](uint16_t offset, uint64_t v) {
    m.from_host(make_write(bar_registers, offset, {uint32_t(v), uint32_t(v >> 32)}));
  };
  set(GGAS_REG_LINK_PEER, 5 | GGAS_LINK_PEER_VALID_MASK);
  set(GGAS_REG_SMFU_CTRL, GGAS_SMFU_CTRL_EGRESS_MASK);
  set(GGAS_REG_INTERVAL_START(7), 0x10000);
  set(GGAS_REG_INTERVAL_END(7), 0x20000);
  set(GGAS_REG_INTERVAL_TARGET(7), 5 | GGAS_INTERVAL_TARGET_VALID_MASK);
  m.link_up(true);
  m.from_host(make_write(bar_window, 0x10084, some_dws(100, 1), 0xc, 0x3));
  const auto first = m.pop_packet(), second = m.pop_packet();
  ASSERT_TRUE(first && second && !m.pop_packet());
  EXPECT_EQ(first->addr, 0x84u);
  EXPECT_EQ(first->len_dw, 64);
  EXPECT_EQ(first->first_be, 0xc);
  EXPECT_EQ(first->last_be, 0xf);
  EXPECT_EQ(second->addr, 0x184u);
  EXPECT_EQ(second->len_dw, 36);
  EXPECT_EQ(second->last_be, 0x3);
  EXPECT_EQ(m.counter(GGAS_REG_SMFU_STORE_PACKETS), 2u);
}

TEST(Model, CompletionsObeyByteCountAndBoundary) {
  nic::reference_model m(64, {.mps = 128, .mrrs = 512, .bus_id = 1});
  auto read = make_read(bar_window, 0x7c, 40, 0x8, 0x1);
  read.tag = 9;
  m.from_host(read);  // nothing is mapped
  const auto c = m.pop_completion();
  ASSERT_TRUE(c);
  EXPECT_EQ(c->status, pcie::cpl_status::sc);
  ASSERT_EQ(c->data.size(), 1u);  // up to the border
  EXPECT_EQ(c->data[0], ~0u);
  EXPECT_EQ(c->byte_count, 160 - 3 - 3);
  EXPECT_EQ(c->lower_addr, 0x7f);
  EXPECT_EQ(m.pop_event()->code, GGAS_EV_LOAD_UNMAPPED);
}

TEST(Model, PacketsSurviveTheLink) {
  rng random(base_seed());
  for (unsigned width : {64u, 256u, 512u}) {
    for (unsigned n = 0; n <= 64; ++n) {
      nic::packet p;
      nic::packet_header h;
      for (auto& dw : h) dw = uint32_t(random.next());
      p.set_header(h);
      p.len_dw = uint16_t(n);
      for (unsigned i = 0; i < n; ++i) p.data.push_back(uint32_t(random.next()));
      nic::flit_decoder decoder(width);
      std::optional<nic::packet> got;
      for (const auto& f : nic::to_flits(p, width)) got = decoder.push(f);
      ASSERT_TRUE(got);
      EXPECT_EQ(got->header(), p.header());
      EXPECT_EQ(got->data, p.data);
    }
  }
}

}  // namespace
}  // namespace ggas::test
