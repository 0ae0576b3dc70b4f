// SPDX-License-Identifier: Apache-2.0
// Constrained-random traffic of two hosts against the reference model: 10^6 packets over all widths.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

struct variant {
  unsigned width;
  uint64_t packets;  // at least
  uint16_t mps, mrrs;
  unsigned rcb;
  bool mask_mode;
  std::array<uint16_t, 2> id;
  uint64_t stride, segment0, start_time;
  double phy_stall;
};

void PrintTo(const variant& v, std::ostream* os) {
  *os << "width " << v.width << " mps " << v.mps << " mrrs " << v.mrrs << (v.mask_mode ? " mask mode" : "");
}

class Random : public testing::TestWithParam<variant> {};

TEST_P(Random, TrafficAgreesWithModel) {
  const variant v = GetParam();
  rig_config c{
      .width = v.width, .phy_stall = v.phy_stall, .mask_mode = v.mask_mode, .start_time = v.start_time, .id = v.id};
  c.host = {.mps = v.mps, .mrrs = v.mrrs, .bus_id = 0x4321};
  c.behaviour.rcb = v.rcb;
  c.stride = v.stride;
  c.segment = {v.segment0, 0x1'2000'0000};
  c.seed = base_seed() * 1000 + v.width + v.mps;
  rig r(c);
  ASSERT_TRUE(r.set_up()) << r.report();
  traffic t(r, {.max_load = v.mrrs == 4096 ? 4096u : 600u}, c.seed);
  uint64_t packets = 0;
  while (packets < v.packets && r.fail.none()) {
    if (!t.run(std::min<uint64_t>(v.packets / 2 + 100, 20'000))) break;
    packets = r.s[0].board->seen().packets_out + r.s[1].board->seen().packets_out;
  }
  t.check();
  EXPECT_CLEAN(r);
  EXPECT_GE(packets, v.packets);
  EXPECT_EQ(r.read_register(0, GGAS_REG_LINK_RX_PACKETS), r.s[1].board->seen().packets_out);
  EXPECT_EQ(r.read_register(1, GGAS_REG_LINK_RX_PACKETS), r.s[0].board->seen().packets_out);
  EXPECT_EQ(r.read_register(0, GGAS_REG_HOST_TX_REQS), r.s[0].host->seen().requests_in);
  std::printf("%llu packets, %llu accesses, %llu cycles\n", (unsigned long long)packets,
              (unsigned long long)t.made().all(), (unsigned long long)r.now());
}

constexpr uint64_t mega = 1 << 20;
INSTANTIATE_TEST_SUITE_P(
    Widths, Random,
    testing::Values(variant{64, 420'000, 256, 512, 64, false, {0, 1}, mega, 0x4000'0000, 0, 0},
                    variant{64, 80'000, 128, 128, 128, true, {63, 21}, mega, 0xffff'ffff'c000'0000, 1ull << 40, 0.2},
                    variant{64, 30'000, 256, 128, 64, false, {33, 62}, mega, 0x7654'3210'0000'0000, 1ull << 63, 0},
                    variant{64, 40'000, 512, 4096, 64, false, {42, 7}, mega << 20, 0, ~0ull - 20'000'000, 0.02},
                    variant{256, 400'000, 256, 512, 64, false, {1, 0}, mega, 0x4000'0000, 0, 0},
                    variant{256, 40'000, 128, 256, 64, true, {5, 2}, mega, 0x4000'0000, 0, 0.1},
                    variant{512, 40'000, 256, 512, 128, false, {0, 1}, mega, 0x4000'0000, 0, 0.05}));

}  // namespace
}  // namespace ggas::test
