// SPDX-License-Identifier: Apache-2.0
// A link dies: everything that waits ends with an error in bounded time, later requests are refused, and after
// retraining the NICs work again.
#include "tests/rtl/nic_top/helpers.hpp"

namespace ggas::test {
namespace {

constexpr unsigned limit = 4, timeout = 300;
constexpr uint64_t tick = nic::nic_core::tick_cycles;     // time-outs are checked on ticks
constexpr uint64_t detection = (limit + 2) * tick + 200;  // cycles until a cut link is given up
constexpr uint64_t link_down = 4;                         // ST_LINK_DOWN
constexpr unsigned dead = 3;

rig_config config(unsigned width) {
  return {
      .width = width, .behaviour = fast_host(), .replay_limit = limit, .replay_timeout = timeout, .seed = base_seed()};
}

unsigned state(rig& r, unsigned n) { return r.read_register(n, GGAS_REG_LINK_STATUS) & 3; }

void expect_refused(rig& r, unsigned n) {
  const uint64_t stores = r.events(n, GGAS_EV_STORE_UNREACHABLE), loads = r.events(n, GGAS_EV_LOAD_UNREACHABLE);
  r.write(n, make_write(bar_window, r.window(1 - n, 0x40), some_dws(4, 1)));
  const auto got = r.read(n, make_read(bar_window, r.window(1 - n, 0x40), 4), 2'000);
  EXPECT_TRUE(got.ones());
  EXPECT_EQ(r.events(n, GGAS_EV_STORE_UNREACHABLE), stores + 1);
  EXPECT_EQ(r.events(n, GGAS_EV_LOAD_UNREACHABLE), loads + 1);
  const auto q = r.quiet(n, 2'000);
  EXPECT_TRUE(q.ok());
  EXPECT_EQ(q.value(), link_down);
}

void retrain(rig& r) {
  r.link_phy_up(true);
  EXPECT_TRUE(r.retrain());
  for (unsigned n = 0; n < 2; ++n) r.quiet(n);  // takes the sticky error
  expect_alive(r);
}

class DeadLink : public testing::TestWithParam<unsigned> {};

TEST_P(DeadLink, CutIsDetectedAndWaitersEnd) {
  rig r(config(GetParam()));
  ASSERT_TRUE(r.set_up()) << r.report();
  r.scoreboards(false);
  constexpr unsigned loads = 40;
  for (auto& x : r.s) x.out->cut = true;
  unsigned ended = 0;
  uint64_t last = 0;
  const uint64_t begin = r.now();
  for (unsigned n = 0; n < 2; ++n) {
    r.write(n, make_write(bar_window, r.window(1 - n, 0x100), some_dws(16, 7)));
    for (unsigned i = 0; i < loads; ++i)
      r.s[n].host->read(make_read(bar_window, r.window(1 - n, 64 * i), 16), [&](const read_result& got) {
        EXPECT_TRUE(got.ones());
        ++ended;
        last = r.now();
      });
  }
  r.run_until([&] { return ended == 2 * loads; }, 3 * detection, "loads on a dead link");
  EXPECT_LE(last - begin, detection);
  for (unsigned n = 0; n < 2; ++n) {
    EXPECT_EQ(state(r, n), dead);
    EXPECT_EQ(r.events(n, GGAS_EV_LINK_DEAD), 1u);
    // A load that had not left was refused, one that had was ended.
    EXPECT_EQ(r.events(n, GGAS_EV_LOAD_REMOTE_ERROR) + r.events(n, GGAS_EV_LOAD_UNREACHABLE), loads);
    EXPECT_GE(r.events(n, GGAS_EV_STORE_LOST), 1u);
    EXPECT_EQ(r.read_register(n, GGAS_REG_SMFU_LOAD_ERRORS), loads);
    const auto log = r.event_log(n);
    const auto has = [&](nic::event e) { return std::ranges::find(log, e) != log.end(); };
    EXPECT_TRUE(has({GGAS_EV_LOAD_REMOTE_ERROR, r.cfg.id[1 - n], link_down}));
    expect_refused(r, n);
  }
  retrain(r);
  EXPECT_CLEAN(r);
}

TEST_P(DeadLink, PhyDownIsDetectedAtOnce) {
  rig r(config(GetParam()));
  ASSERT_TRUE(r.set_up()) << r.report();
  r.scoreboards(false);
  r.s[1].host->behaviour.read_delay_min = r.s[1].host->behaviour.read_delay_max = 400;
  unsigned ended = 0;
  for (unsigned i = 0; i < 8; ++i)
    r.s[0].host->read(make_read(bar_window, r.window(1, 64 * i), 16), [&](const read_result& got) {
      EXPECT_TRUE(got.ones());
      ++ended;
    });
  r.run(200);
  EXPECT_EQ(ended, 0u);
  r.link_phy_up(false);
  r.run_until([&] { return ended == 8; }, 200, "loads after the PHY went down");
  r.run(1'000);
  for (unsigned n = 0; n < 2; ++n) {
    EXPECT_EQ(r.events(n, GGAS_EV_LINK_DEAD), 1u);
    expect_refused(r, n);
  }
  EXPECT_EQ(r.events(0, GGAS_EV_LOAD_REMOTE_ERROR), 8u);
  retrain(r);
  EXPECT_CLEAN(r);
}

// The requests are acknowledged and then the link dies: only the peer can notice. The loads end by their time-out.
TEST_P(DeadLink, LostResponsesEndByTimeout) {
  rig_config c = config(GetParam());
  c.load_ticks = 3;
  rig r(c);
  ASSERT_TRUE(r.set_up()) << r.report();
  r.scoreboards(false);
  r.s[1].host->behaviour.read_delay_min = r.s[1].host->behaviour.read_delay_max = 600;
  read_result got;
  bool ended = false;
  r.s[0].host->read(make_read(bar_window, r.window(1, 0), 16), [&](const read_result& x) {
    got = x;
    ended = true;
  });
  r.run(300);
  for (auto& x : r.s) x.out->cut = true;
  r.run_until([&] { return ended; }, 5 * 1024, "a load whose response is lost");
  EXPECT_TRUE(got.ones());
  r.run(detection + 600);
  EXPECT_EQ(state(r, 1), dead);
  EXPECT_EQ(r.events(0, GGAS_EV_LOAD_TIMEOUT), 1u);
  EXPECT_EQ(r.events(1, GGAS_EV_LINK_DEAD), 1u);
  retrain(r);
  EXPECT_CLEAN(r);
}

// Stores alone, then a quiet: it must not succeed.
TEST_P(DeadLink, QuietFailsAfterLostStores) {
  rig r(config(GetParam()));
  ASSERT_TRUE(r.set_up()) << r.report();
  r.scoreboards(false);
  for (auto& x : r.s) x.out->cut = true;
  for (unsigned i = 0; i < 20; ++i) r.write(0, make_write(bar_window, r.window(1, 64 * i), some_dws(16, i)));
  const uint64_t begin = r.now();
  const auto q = r.quiet(0, 3 * detection);
  EXPECT_TRUE(q.ok());
  EXPECT_EQ(q.value(), link_down);
  EXPECT_LE(r.now() - begin, detection + 500);
  r.run(1'000);  // the counters of a long replay buffer
  // Lost on the link, or refused after it: each of the 20 is in one of the counters.
  EXPECT_EQ(r.events(0, GGAS_EV_STORE_LOST) + r.events(0, GGAS_EV_STORE_UNREACHABLE), 20u);
  retrain(r);
  EXPECT_CLEAN(r);
}

// More than every buffer holds: the host side must still drain.
TEST_P(DeadLink, FloodDrains) {
  rig r(config(GetParam()));
  ASSERT_TRUE(r.set_up()) << r.report();
  r.scoreboards(false);
  unsigned ended = 0, good = 0;
  constexpr unsigned accesses = 300;
  for (unsigned n = 0; n < 2; ++n)
    for (unsigned i = 0; i < accesses; ++i) {
      r.write(n, make_write(bar_window, r.window(1 - n, 64 * i), some_dws(16, i)));
      r.s[n].host->read(make_read(bar_window, r.window(1 - n, 64 * i), 16), [&](const read_result& got) {
        ++ended;
        good += !got.ones();
      });
    }
  r.run(1'500);
  for (auto& x : r.s) x.out->cut = true;
  r.run_until([&] { return ended == 2 * accesses && r.s[0].host->queued() + r.s[1].host->queued() == 0; }, 30'000,
              "a flood on a dead link");
  EXPECT_LT(good, 2 * accesses);
  EXPECT_GT(good, 0u);
  retrain(r);
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Widths, DeadLink, testing::Values(64u, 256u));

TEST(Link, ComesUpWhenThePeerIsLate) {
  rig r(config(64));
  for (auto& x : r.s) x.nic->link_up(0, false);
  r.run(500);
  r.s[0].nic->link_up(0, true);
  r.run(3'000);
  EXPECT_NE(state(r, 0), 2u);
  r.s[1].nic->link_up(0, true);
  ASSERT_TRUE(r.set_up()) << r.report();
  expect_alive(r);
  EXPECT_CLEAN(r);
}

TEST(Link, ComesUpThroughFaults) {
  for (unsigned i = 0; i < 20; ++i) {
    rig_config c = config(64);
    c.seed = base_seed() + i;
    rig r(c);
    for (auto& x : r.s) x.out->drop = x.out->corrupt = 0.2;
    EXPECT_TRUE(r.wait_link_up()) << r.report();
    for (auto& x : r.s) x.out->drop = x.out->corrupt = 0;
    ASSERT_TRUE(r.set_up()) << r.report();
    expect_alive(r);
    EXPECT_CLEAN(r);
  }
}

}  // namespace
}  // namespace ggas::test
