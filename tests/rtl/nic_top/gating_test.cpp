// SPDX-License-Identifier: Apache-2.0
// Idle skipping: a NIC whose clock stops whenever busy_o allows behaves, cycle for cycle, like one that is always
// clocked.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {
namespace {

struct trace {
  std::vector<uint64_t> marks;  // time and content of everything that leaves a NIC
  uint64_t steps = 0, cycles = 0;
  std::string failures;
};

uint64_t digest(const pcie::tlp& t) {
  uint64_t h = t.addr * 31 + uint64_t(t.kind) + t.len_dw * 7u + t.tag * 131u + t.byte_count * 17u + uint64_t(t.status);
  for (uint32_t d : t.data) h = h * 0x100000001b3ull ^ d;
  return h;
}

trace record(rig_config c, bool gated, const std::function<void(rma_world&)>& scenario) {
  c.gated = gated;
  rma_world w({c.width}, c);
  rig& r = w.r;
  trace out;
  r.on_flit = [&](unsigned from, const nic::flit& f) {
    out.marks.push_back(r.now() * 4 + from);
    out.marks.push_back(uint64_t(f.kind));
    out.marks.insert(out.marks.end(), f.data.begin(), f.data.end());
  };
  r.on_tlp_out = [&](unsigned at, const pcie::tlp& t) {
    out.marks.push_back(r.now() * 4 + 2 + at);
    out.marks.push_back(digest(t));
  };
  EXPECT_TRUE(r.set_up()) << r.report();
  scenario(w);
  out.steps = r.s[0].nic->steps() + r.s[1].nic->steps();
  out.cycles = r.now() - c.start_time;
  out.failures = r.fail.none() ? "" : r.report();
  return out;
}

void expect_same(const rig_config& c, const std::function<void(rma_world&)>& scenario, double most_steps) {
  const trace always = record(c, false, scenario), gated = record(c, true, scenario);
  EXPECT_EQ(always.failures, "");
  EXPECT_EQ(gated.failures, "");
  EXPECT_EQ(always.cycles, gated.cycles);
  ASSERT_EQ(always.marks.size(), gated.marks.size());
  const auto [a, b] = std::ranges::mismatch(always.marks, gated.marks);
  EXPECT_TRUE(a == always.marks.end()) << "differ at mark " << a - always.marks.begin() << ", cycle about " << *a / 4;
  EXPECT_LT(double(gated.steps), most_steps * double(always.steps));
  std::printf("%llu cycles, clocked %.1f %%\n", (unsigned long long)always.cycles,
              100.0 * double(gated.steps) / double(always.steps));
}

class Gating : public testing::TestWithParam<unsigned> {};

TEST_P(Gating, RandomTraffic) {
  expect_same(
      {.width = GetParam(), .seed = base_seed()},
      [](rma_world& w) {
        rig& r = w.r;
        traffic t(r, {}, r.cfg.seed);
        for (unsigned i = 0; i < 10; ++i) {
          t.run(300);
          r.run(997 + 2048 * i);
        }
        t.check();
      },
      0.9);
}

TEST_P(Gating, FaultsAndReplays) {
  expect_same(
      {.width = GetParam(), .replay_timeout = 500, .seed = base_seed()},
      [](rma_world& w) {
        rig& r = w.r;
        for (auto& x : r.s) x.out->drop = x.out->corrupt = x.out->duplicate = 0.003;
        traffic t(r, {}, r.cfg.seed);
        for (unsigned i = 0; i < 20; ++i) {
          t.run(50);
          r.run(1'500);
        }
      },
      0.9);
}

TEST_P(Gating, TimeoutsAndDeath) {
  rig_config c{.width = GetParam(), .replay_limit = 3, .replay_timeout = 700, .seed = base_seed()};
  c.load_ticks = 5;
  c.host_ticks = 3;
  expect_same(
      c,
      [](rma_world& w) {
        rig& r = w.r;
        r.scoreboards(false);
        r.s[1].host->fate = [](const pcie::tlp&) { return read_fate::silent; };
        r.read(0, make_read(bar_window, r.window(1, 0), 16), 20'000);
        r.write_register(1, GGAS_REG_MODERATION(3), 5'000);
        r.run(333);
        for (unsigned i = 0; i < 5; ++i) r.write(1, make_write(bar_window, 7 * r.cfg.stride, some_dws(2, i)));
        r.run(30'000);
        for (auto& x : r.s) x.out->cut = true;
        r.read(0, make_read(bar_window, r.window(1, 0), 16), 20'000);
        r.run(5'000);
        r.write(0, make_write(bar_window, r.window(1, 0), some_dws(2, 1)));
        r.run(5'000);
      },
      0.7);
}

// Bursts of every one-sided operation, and pauses; then operations that wait for a full ring and for answers that never
// come.
TEST_P(Gating, OneSided) {
  rig_config c{.width = GetParam(), .replay_timeout = 700, .seed = base_seed()};
  expect_same(
      c,
      [](rma_world& w) {
        rig& r = w.r;
        w.start();
        std::vector<rma_user*> users;
        for (unsigned i = 0; i < 4; ++i)
          users.push_back(
              &w.user({.side = i % 2, .vpid = uint8_t(50 * i), .pd = 9, .queue = i == 3, .mailbox_log2 = 2}));
        rma_traffic t(r, w.driver, users, {}, r.cfg.seed);
        for (unsigned i = 0; i < 6; ++i) {
          t.make(12);
          w.finish();
          r.run(997 + 2048 * i);
        }
        t.check();
        r.scoreboards(false);
        for (unsigned n = 0; n < 2; ++n) r.write_register(n, GGAS_REG_RMA_TIMEOUT, 3 | 4 << 16);
        users[1]->cfg.reads_mails = false;
        for (unsigned i = 0; i < 6; ++i)
          users[0]->post({.op = nic::desc_op::send, .dvpid = users[1]->cfg.vpid, .node = r.cfg.id[1]});
        for (unsigned i = 0; i < 20; ++i) {
          r.run(401);
          w.pump();
        }
        users[1]->cfg.reads_mails = true;
        w.finish();
        r.s[1].host->fate = [](const pcie::tlp&) { return read_fate::silent; };
        users[0]->post({.op = nic::desc_op::get, .node = r.cfg.id[1], .size = 64, .w1 = 0, .w2 = 0});
        w.finish();
        r.run(20'000);
      },
      0.8);
}

TEST_P(Gating, AnIdlePairIsNotClocked) {
  rig_config c{.width = GetParam(), .gated = true, .seed = base_seed()};
  rig r(c);
  ASSERT_TRUE(r.set_up()) << r.report();
  r.run(10'000);
  const uint64_t before = r.s[0].nic->steps() + r.s[1].nic->steps();
  r.run(100'000);
  EXPECT_LE(r.s[0].nic->steps() + r.s[1].nic->steps() - before, 400u);
  expect_alive(r);
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Widths, Gating, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
