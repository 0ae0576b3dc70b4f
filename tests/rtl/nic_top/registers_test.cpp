// SPDX-License-Identifier: Apache-2.0
// Registers, event ring and MSI-X as software meets them.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

class Registers : public testing::TestWithParam<unsigned> {};

TEST_P(Registers, ReadBackWhatTheModelSays) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  // The scoreboard compares every read with the model.
  constexpr uint16_t plain[] = {GGAS_REG_NODE,      GGAS_REG_SMFU_MASK, GGAS_REG_SMFU_SHIFT, GGAS_REG_SMFU_TIMEOUT,
                                GGAS_REG_LINK_PEER, GGAS_REG_EVQ_TAIL,  GGAS_REG_ID,         GGAS_REG_CAPS,
                                GGAS_REG_BUILD,     GGAS_REG_CLOCK,     GGAS_REG_SERIAL};
  rng random(base_seed());
  r.write_register(0, GGAS_REG_SMFU_CTRL, 0);
  const auto check = [&](uint16_t offset) {
    const uint64_t keep = r.read_register(0, offset);
    for (uint64_t v : {~uint64_t{0}, uint64_t{0}, random.next(), random.next(), keep}) {
      r.write_register(0, offset, v);
      r.read_register(0, offset);
      r.read(0, make_read(bar_registers, offset, 1));
      r.read(0, make_read(bar_registers, offset + 4u, 1));
    }
    r.write(0, make_write(bar_registers, offset + 4u, {0x55aa55aa}));
    r.read_register(0, offset);
    r.write_register(0, offset, keep);
  };
  for (uint16_t offset : plain) check(offset);
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i) {
    r.write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(i)), 0);
    check(uint16_t(GGAS_REG_INTERVAL_START(i)));
    check(uint16_t(GGAS_REG_INTERVAL_END(i)));
  }
  for (unsigned i = 0; i < GGAS_EXPORT_NUM; ++i) {
    check(uint16_t(GGAS_REG_EXPORT_BASE(i)));
    check(uint16_t(GGAS_REG_EXPORT_SIZE(i)));
    check(uint16_t(GGAS_REG_EXPORT_ACCESS(i)));
  }
  for (unsigned i = 0; i < GGAS_MSIX_NUM; ++i) {
    check(uint16_t(GGAS_REG_MSIX_ADDR(i)));
    r.write_register(0, uint16_t(GGAS_REG_MSIX_CTRL(i)), random.next() | GGAS_MSIX_CTRL_MASK_MASK);
    r.read_register(0, uint16_t(GGAS_REG_MSIX_CTRL(i)));
  }
  EXPECT_CLEAN(r);
}

TEST_P(Registers, TimeIsTheTimeOutside) {
  constexpr uint64_t start = 0xfedc'ba98'7654'0000;
  rig r({.width = GetParam(), .start_time = start, .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  const uint64_t before = r.now(), t = r.read_register(0, GGAS_REG_TIME);
  EXPECT_GE(t, before);
  EXPECT_LE(t, r.now());
}

TEST_P(Registers, EveryIntervalMaps) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  rng random(base_seed());
  std::vector<uint64_t> start;
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i) {
    start.push_back((uint64_t{i} << 58 | (random.next() >> 6)) & ~uint64_t{0xfff});
    r.write_register(0, uint16_t(GGAS_REG_INTERVAL_START(i)), start[i]);
    r.write_register(0, uint16_t(GGAS_REG_INTERVAL_END(i)), start[i] + 0x2000);
    r.write_register(0, uint16_t(GGAS_REG_INTERVAL_TARGET(i)), (i % 2) | rig::to_segment);
  }
  for (unsigned i = 0; i < GGAS_INTERVAL_NUM; ++i) {
    const uint64_t offset = 64 * i;
    const auto dws = some_dws(3, 0xc0de0000 + i);
    r.write(0, make_write(bar_window, start[i] + offset, dws));
    const auto got = r.read(0, make_read(bar_window, start[i] + offset, 3));
    EXPECT_TRUE(got.ok() && got.dws == dws) << i << r.report();
    EXPECT_EQ(r.s[i % 2].host->mem.load32(r.bus(i % 2, offset)), dws[0]);
    for (uint64_t beside : {start[i] - 4, start[i] + 0x2000})
      EXPECT_TRUE(r.read(0, make_read(bar_window, beside, 1)).ones());
  }
  EXPECT_CLEAN(r);
}

TEST_P(Registers, EventRingWrapsWithPhaseAndInterrupts) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  const uint64_t before = r.read_register(0, GGAS_REG_HOST_MSIX);  // LINK_UP
  uint64_t interrupts = 0;
  r.on_tlp_out = [&](unsigned at, const pcie::tlp& t) {
    if (at != 0 || t.addr != rig::msix_page) return;
    EXPECT_EQ(t.data[0], 0x12345678u);
    EXPECT_EQ(t.len_dw, 1);
    ++interrupts;
  };
  r.write_register(0, GGAS_REG_EVQ_CTRL, 0);
  r.write_register(0, GGAS_REG_EVQ_CTRL, 1 | 4 << 8 | 3 << 16);  // 16 records
  for (uint64_t i = 0; i < 60; ++i) {
    const uint64_t at = 3 * r.cfg.stride + 64 * i;
    r.write(0, make_write(bar_window, at, some_dws(1, 1)));
    ASSERT_TRUE(r.run_until(
        [&] {
          return r.s[0].host->mem.load64(rig::event_ring + 16 * (i % 16)) ==
                 (uint64_t{GGAS_EV_STORE_UNMAPPED} << 56 | at);
        },
        500, "an event record"));
    r.run(20);
    const uint64_t tail = r.s[0].host->mem.load64(rig::event_ring + 16 * (i % 16) + 8);
    EXPECT_EQ(tail >> 1, i);
    // The phase alternates with each pass over the ring, so no record needs clearing.
    static uint64_t first = 0;
    if (i == 0) first = tail & 1;
    EXPECT_EQ(tail & 1, first ^ (i / 16 & 1));
    r.write_register(0, GGAS_REG_EVQ_TAIL, i + 1);
  }
  r.run(100);
  EXPECT_EQ(interrupts, 60u);
  EXPECT_EQ(r.read_register(0, GGAS_REG_HOST_MSIX), before + 60);
  EXPECT_CLEAN(r);
}

TEST_P(Registers, MaskedInterruptStaysPendingAndModerationDelays) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  std::vector<uint64_t> at;
  r.on_tlp_out = [&](unsigned n, const pcie::tlp& t) {
    if (n == 0 && t.addr == rig::msix_page) at.push_back(r.now());
  };
  const auto event = [&] {
    r.write(0, make_write(bar_window, 3 * r.cfg.stride, some_dws(1, 1)));
    r.run(200);
  };
  r.write_register(0, uint16_t(GGAS_REG_MSIX_CTRL(3)), 0x1234'5678 | GGAS_MSIX_CTRL_MASK_MASK);
  event();
  EXPECT_TRUE(at.empty());
  EXPECT_EQ(r.read_register(0, GGAS_REG_MSIX_PBA), 8u);
  r.write_register(0, uint16_t(GGAS_REG_MSIX_CTRL(3)), 0x1234'5678);
  r.run(100);
  EXPECT_EQ(at.size(), 1u);
  EXPECT_EQ(r.read_register(0, GGAS_REG_MSIX_PBA), 0u);
  r.write_register(0, GGAS_REG_MODERATION(3), 3'000);
  for (unsigned i = 0; i < 4; ++i) event();
  r.run(8'000);
  ASSERT_EQ(at.size(), 3u) << "one at once, the others together";
  EXPECT_GE(at[2] - at[1], 3'000u);
  EXPECT_LE(at[2] - at[1], 3'000u + 1'200u);
  EXPECT_CLEAN(r);
}

// MSI-X Enable and Function Mask change at any time: nothing leaves while either forbids it, and nothing is lost.
TEST_P(Registers, MsixPinsAtRandomTimes) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  rng random(base_seed());
  uint64_t messages = 0;
  r.on_tlp_out = [&](unsigned n, const pcie::tlp& t) { messages += n == 0 && t.addr == rig::msix_page; };
  r.write_register(0, GGAS_REG_MSIX_CTRL(3), 0);
  const auto events = [&] {
    for (uint64_t k = 1 + random.below(3); k > 0; --k) {
      r.write(0, make_write(bar_window, 3 * r.cfg.stride, some_dws(1, 1)));
      r.run(random.below(60));
    }
  };
  for (unsigned k = 0; k < 200; ++k) {
    events();
    const unsigned pins = 1 + random.below(3);  // bit 0 off, bit 1 masked
    r.s[0].nic->msix(!(pins & 1), pins & 2);
    r.run(60);  // what the host interface had taken
    const uint64_t before = messages;
    events();
    r.run(100);
    ASSERT_EQ(messages, before) << "with MSI-X " << (pins & 1 ? "off" : "on") << (pins & 2 ? ", masked" : "");
    EXPECT_EQ(r.read_register(0, GGAS_REG_MSIX_PBA), 8u);
    r.s[0].nic->msix(true, false);
    r.run(100);
    ASSERT_GT(messages, before);
    EXPECT_EQ(r.read_register(0, GGAS_REG_MSIX_PBA), 0u);
    const uint64_t count = r.read_register(0, GGAS_REG_EVQ_HEAD);
    r.write_register(0, GGAS_REG_EVQ_TAIL, count);
  }
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Widths, Registers, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
