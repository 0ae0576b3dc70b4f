// SPDX-License-Identifier: Apache-2.0
// The cycle counts the NIC promises, on an idle network and under load.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

constexpr unsigned wire = 20;  // cycles of PHYs and cable in the node-to-node figure
constexpr uint64_t never = ~0ull;

struct stamps {
  uint64_t store = never, flit_out = never, flit_in = never, tlp_out = never;
};

stamps one_store(rig& r, unsigned dws) {
  stamps t;
  r.on_flit = [&](unsigned from, const nic::flit& f) {
    if (from == 0 && f.kind == nic::flit_kind::sop && t.flit_out == never) t.flit_out = r.now();
  };
  r.on_tlp_out = [&](unsigned at, const pcie::tlp& x) {
    if (at == 1 && x.kind == pcie::tlp_kind::mwr && t.tlp_out == never) t.tlp_out = r.now();
  };
  r.write(0, make_write(bar_window, r.window(1, 0x40), some_dws(dws, 3)));
  t.store = r.now();
  r.run_until([&] { return t.tlp_out != never; }, 1'000, "a store");
  t.flit_in = t.flit_out + wire;
  r.on_flit = nullptr;
  r.on_tlp_out = nullptr;
  return t;
}

class Timing : public testing::TestWithParam<unsigned> {};

TEST_P(Timing, StoreLatency) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .link_latency = wire, .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  for (unsigned i = 0; i < 50; ++i) {
    r.run(300 + 37 * i);  // every phase against ticks and CTRL flits
    const stamps t = one_store(r, 2);
    EXPECT_LE(t.flit_out - t.store, 12u);
    EXPECT_LE(t.tlp_out - t.flit_in, 12u);
    EXPECT_LE(t.tlp_out - t.store, 45u);
  }
  EXPECT_CLEAN(r);
}

// Back-to-back stores of one side or of both; flits on the link in a window without start and end, per store.
double cycles_per_store(rig& r, unsigned dws, bool both) {
  constexpr unsigned stores = 3'000;
  uint64_t arrived = 0, begin = 0, end = 0;
  r.on_tlp_out = [&](unsigned at, const pcie::tlp& t) {
    if (at != 1 || t.kind != pcie::tlp_kind::mwr) return;
    if (++arrived == stores / 4) begin = r.now();
    if (arrived == stores) end = r.now();
  };
  for (unsigned i = 0; i < stores; ++i)
    for (unsigned n = 0; n < (both ? 2u : 1u); ++n)
      r.write(n, make_write(bar_window, r.window(1 - n, 64 * (i % 1024)), some_dws(dws, i)));
  r.run_until([&] { return end != 0; }, 200'000, "stores");
  r.on_tlp_out = nullptr;
  r.settle();
  return double(end - begin) / (stores - stores / 4);
}

TEST_P(Timing, SixtyFourByteStoresFillTheLink) {
  const double flits = nic::flit_count(16, GetParam());
  for (bool both : {false, true}) {
    rig r({.width = GetParam(), .behaviour = fast_host(), .link_latency = wire, .seed = base_seed()});
    ASSERT_TRUE(r.set_up()) << r.report();
    const double cycles = cycles_per_store(r, 16, both);
    EXPECT_GE(flits / cycles, 0.9) << cycles << " cycles a store" << (both ? ", both directions" : "");
    EXPECT_CLEAN(r);
  }
}

TEST_P(Timing, SmallStores) {
  if (GetParam() == 64) GTEST_SKIP() << "a promise of the wide datapaths";
  rig r({.width = GetParam(), .behaviour = fast_host(), .link_latency = wire, .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  EXPECT_LE(cycles_per_store(r, 2, false), 4.0);
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Widths, Timing, testing::Values(64u, 256u, 512u));

}  // namespace
}  // namespace ggas::test
