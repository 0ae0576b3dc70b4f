// SPDX-License-Identifier: Apache-2.0
// Flits dropped, corrupted and duplicated: nothing lost, doubled or reordered.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

constexpr unsigned sizes[] = {1, 2, 16, 64};  // DWs of stores and loads

// A fixed sequence of accesses of both sides; `k` changes the data.
void pattern(rig& r, uint32_t k) {
  for (unsigned n = 0; n < 2; ++n) {
    for (unsigned i = 0; i < std::size(sizes); ++i) {
      const uint64_t at = r.window(1 - n, n * r.cfg.stride / 2 + 0x1000 * i);
      const auto dws = some_dws(sizes[i], k * 0x10001u + i);
      r.write(n, make_write(bar_window, at, dws));
      r.s[n].host->read(make_read(bar_window, at, sizes[i]), [&r, dws, k](const read_result& got) {
        if (!got.ok() || got.dws != dws)
          r.fail.add("pattern {}: load of {} DW does not return what was stored", k, dws.size());
      });
    }
    r.s[n].host->read(make_read(bar_pages, 0, 1), [&r, k](const read_result& got) {
      if (!got.ok() || got.value() != 0) r.fail.add("pattern {}: quiet returned {}", k, got.value());
    });
  }
  r.settle(60'000);
}

class Faults : public testing::TestWithParam<unsigned> {};

TEST_P(Faults, EveryFlitIndex) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .link_latency = 6, .replay_timeout = 300, .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  unsigned least = 2 * nic::flit_count(0, GetParam());  // quiet and its answer, then store, load and answer
  for (unsigned dws : sizes) least += 2 * nic::flit_count(dws, GetParam()) + nic::flit_count(0, GetParam());
  uint32_t k = 0;
  pattern(r, k++);
  for (unsigned n = 0; n < 2; ++n) {
    link_channel& c = *r.s[n].out;
    c.restart_index();
    pattern(r, k++);
    const uint64_t flits = c.index();
    EXPECT_GE(flits, least) << "CTRL flits come on top";
    for (fault f : {fault::drop, fault::corrupt, fault::duplicate}) {
      for (uint64_t i = 0; i < flits; ++i) {
        c.restart_index();
        c.at = {{i, f}};
        pattern(r, k++);
        ASSERT_TRUE(r.fail.none()) << "fault " << unsigned(f) << " at flit " << i << " from side " << n << "\n"
                                   << r.report();
      }
    }
    c.at.clear();
    EXPECT_GE(c.faults(), 3 * flits - 30);  // a pattern may need a CTRL flit less than the one counted
  }
  r.check_finished();
  EXPECT_CLEAN(r);
  EXPECT_GT(r.read_register(0, GGAS_REG_LINK_TX_REPLAYS), 0u);
  EXPECT_GT(r.read_register(1, GGAS_REG_LINK_RX_CRC_ERRORS), 0u);
  EXPECT_GT(r.read_register(1, GGAS_REG_LINK_RX_SEQ_ERRORS), 0u);
}
INSTANTIATE_TEST_SUITE_P(Widths, Faults, testing::Values(64u, 256u));

struct rate {
  unsigned width;
  uint64_t accesses;
  friend void PrintTo(const rate& r, std::ostream* os) { *os << r.width << " bit, " << r.accesses << " accesses"; }
};
class RandomFaults : public testing::TestWithParam<rate> {};

TEST_P(RandomFaults, OneInAThousandFlits) {
  rig r({.width = GetParam().width, .replay_timeout = 600, .seed = base_seed() + 77});
  ASSERT_TRUE(r.set_up()) << r.report();
  for (auto& x : r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 1e-3 / 3;
  traffic t(r, {.stores = 60, .loads = 40, .quiets = 1, .registers = 0, .own_node = 0}, base_seed() + 78);
  while (t.made().stores + t.made().loads < GetParam().accesses && r.fail.none())
    if (!t.run(20'000)) break;
  for (auto& x : r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 0;
  t.check();
  EXPECT_CLEAN(r);
  const uint64_t faults = r.s[0].out->faults() + r.s[1].out->faults();
  const double flits = double(r.s[0].out->index() + r.s[1].out->index());
  EXPECT_NEAR(double(faults) / flits, 1e-3, 1e-4);
  EXPECT_GE(t.made().stores + t.made().loads, GetParam().accesses);
  std::printf("%llu accesses, %llu faults, %llu cycles\n", (unsigned long long)t.made().all(),
              (unsigned long long)faults, (unsigned long long)r.now());
}
INSTANTIATE_TEST_SUITE_P(Widths, RandomFaults, testing::Values(rate{64, 500'000}, rate{256, 500'000}));

TEST(HeavyFaults, OneInFifty) {
  rig r({.width = 64, .replay_limit = 255, .replay_timeout = 400, .seed = base_seed() + 5});
  ASSERT_TRUE(r.set_up()) << r.report();
  for (auto& x : r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 0.02 / 3;
  traffic t(r, {}, base_seed() + 6);
  t.run(5'000);
  for (auto& x : r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 0;
  t.check();
  EXPECT_CLEAN(r);
}

}  // namespace
}  // namespace ggas::test
