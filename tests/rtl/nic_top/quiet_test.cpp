// SPDX-License-Identifier: Apache-2.0
// Quiet: its guarantees under slow hosts; and the deadlock that three virtual channels prevent
// (docs/decisions/0001-three-virtual-channels.md).
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

class Quiet : public testing::TestWithParam<unsigned> {};

TEST_P(Quiet, EveryEarlierStoreIsInMemory) {
  host_behaviour slow;
  slow.stall = 0.1;
  slow.stall_max = 120;
  slow.write_delay = 300;
  rig r({.width = GetParam(), .behaviour = slow, .phy_stall = 0.1, .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  traffic t(r, {.stores = 80, .loads = 5, .quiets = 15, .registers = 0, .own_node = 0.3}, base_seed());
  t.run(10'000);
  t.check();
  EXPECT_CLEAN(r);
  EXPECT_GT(t.made().quiets, 40u);
}

TEST_P(Quiet, ExactlyTheBytesStored) {
  rig r({.width = GetParam(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  r.s[1].host->behaviour.write_delay = 500;
  for (uint32_t round = 1; round < 40; ++round) {
    for (unsigned i = 0; i < 12; ++i)
      r.write(0, make_write(bar_window, r.window(1, 0x100 * i), some_dws(16, round * 1000 + i)));
    const auto q = r.quiet(0);
    ASSERT_TRUE(q.ok() && q.value() == 0) << r.report();
    for (unsigned i = 0; i < 12; ++i)
      ASSERT_EQ(r.s[1].host->mem.load32(r.bus(1, 0x100 * i + 60)), some_dws(16, round * 1000 + i)[15]);
  }
  EXPECT_EQ(r.read_register(0, GGAS_REG_SMFU_QUIETS), 39u);
  EXPECT_CLEAN(r);
}

TEST_P(Quiet, WithoutStoresIsAnsweredAtOnce) {
  rig r({.width = GetParam(), .behaviour = fast_host(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  uint64_t packets = 0;
  r.on_packet = [&](unsigned, const nic::packet&) { ++packets; };
  const uint64_t begin = r.now();
  EXPECT_EQ(r.quiet(0).value(), 0u);
  EXPECT_LE(r.now() - begin, 40u);
  EXPECT_EQ(packets, 0u);
  EXPECT_CLEAN(r);
}

TEST_P(Quiet, ManyAtOnce) {
  rig r({.width = GetParam(), .seed = base_seed()});
  ASSERT_TRUE(r.set_up()) << r.report();
  unsigned ended = 0;
  for (unsigned i = 0; i < 60; ++i) {
    for (unsigned n = 0; n < 2; ++n) {
      r.write(n, make_write(bar_window, r.window(1 - n, n * r.cfg.stride / 2 + 64 * i), some_dws(16, i)));
      const uint32_t want = some_dws(16, i)[15];
      const pcie::tlp quiet = make_read(bar_pages, nic::rma_context_bytes * i, 2);
      r.s[n].host->read(quiet, [&r, &ended, n, i, want](const read_result& q) {
        ++ended;
        EXPECT_TRUE(q.ok() && q.value() == 0);
        EXPECT_EQ(r.s[1 - n].host->mem.load32(r.bus(1 - n, n * r.cfg.stride / 2 + 64 * i + 60)), want);
      });
    }
  }
  r.run_until([&] { return ended == 120; }, 100'000, "120 quiets");
  EXPECT_CLEAN(r);
}

// Both sides store and load as fast as they can. No host accepts a read or a completion while one of its own stores
// waits, and no host lets a completion pass its stores. With requests in one channel this would deadlock.
TEST_P(Quiet, NoDeadlockWhenCompletionsWaitBehindPostedWrites) {
  host_behaviour h = fast_host();
  h.posted_first = true;
  h.max_reads = 128;
  h.max_posted_pending = 4;
  for (unsigned latency : {4u, 200u}) {
    rig r({.width = GetParam(), .behaviour = h, .link_latency = latency, .seed = base_seed()});
    ASSERT_TRUE(r.set_up()) << r.report();
    constexpr unsigned accesses = 1'500;
    unsigned ended = 0;
    for (unsigned n = 0; n < 2; ++n)
      for (unsigned i = 0; i < accesses; ++i) {
        const uint64_t at = n * r.cfg.stride / 2 + 256 * (i % 64);
        r.write(n, make_write(bar_window, r.window(1 - n, at), some_dws(64, i)));
        r.write(n, make_write(bar_window, r.window(1 - n, at), some_dws(2, i)));
        r.s[n].host->read(make_read(bar_window, r.window(1 - n, at), 64), [&](const read_result& got) {
          EXPECT_TRUE(got.ok());
          ++ended;
        });
      }
    r.run_until([&] { return ended == 2 * accesses; }, 2'000'000, "a flood of stores and loads");
    r.settle();
    r.check_finished();
    EXPECT_CLEAN(r);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Quiet, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
