// SPDX-License-Identifier: Apache-2.0
// Stops with acknowledgement: of contexts, of the window in both directions, of the event ring and of the whole NIC,
// under load from both nodes and back-pressure of the hosts; and the state that a former owner of a context leaves.
#include "tests/rtl/nic_top/stop_load.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;

host_behaviour pressing_host() {
  host_behaviour h;
  h.stall = 0.05;
  h.stall_max = 60;
  h.write_delay = 30;
  return h;
}

class Stop : public testing::TestWithParam<device> {
 protected:
  void SetUp() override {
    w_ = std::make_unique<rma_world>(
        GetParam(), rig_config{.behaviour = pressing_host(), .load_ticks = 30, .host_ticks = 10, .seed = base_seed()});
    ASSERT_TRUE(w_->set_up(2, 1)) << w_->r.report();
    w_->r.scoreboards(false);
  }
  void run(uint64_t stops, unsigned contexts, unsigned intervals, unsigned exports) {
    stop_load load(*w_, contexts, intervals, exports, base_seed());
    const uint64_t begin = w_->r.now();
    ASSERT_TRUE(load.run(stops)) << w_->r.report();
    const auto& n = load.stopped();
    std::printf(
        "stops: %llu of contexts, %llu of intervals, %llu of exports, %llu of the ingress, %llu of the event ring; "
        "%llu requests, %llu cycles\n",
        (unsigned long long)n.contexts, (unsigned long long)n.intervals, (unsigned long long)n.exports,
        (unsigned long long)n.ingress, (unsigned long long)n.events, (unsigned long long)load.writes_seen(),
        (unsigned long long)(w_->r.now() - begin));
    for (const uint64_t each : {n.contexts, n.intervals, n.ingress, n.events}) EXPECT_GT(each, stops / 200);
    EXPECT_GE(n.exports, exports ? stops / 2 : 0);
    EXPECT_GT(load.writes_seen(), exports ? stops : 2 * stops) << "hardly any load";
    w_->r.on_tlp_out = nullptr;
    EXPECT_CLEAN(w_->r);
  }
  std::unique_ptr<rma_world> w_;
};

TEST_P(Stop, NothingIsWrittenBehindTheAcknowledgement) { run(5'000, 24, 6, 0); }
TEST_P(Stop, LongNothingIsWrittenBehindTheAcknowledgement) { run(500'000, 24, 6, 0); }
TEST_P(Stop, ExportsChangeHands) { run(5'000, 4, 2, 16); }
TEST_P(Stop, LongExportsChangeHands) { run(500'000, 4, 2, 16); }

TEST_P(Stop, WholeNic) {
  stop_load load(*w_, 16, 4, 3, base_seed());
  for (unsigned round = 0; round < 8; ++round) {
    ASSERT_TRUE(load.run(100 * (round + 1))) << w_->r.report();
    ASSERT_TRUE(load.stop_nic()) << "round " << round << "\n" << w_->r.report();
  }
  w_->r.on_tlp_out = nullptr;
  EXPECT_CLEAN(w_->r);
}

// The next owner of a context, of another domain, gets no data of the former owner: neither the data of its gets and
// atomics, which name the next owner's memory, nor late refusals of its targets.
TEST_P(Stop, ReuseAcrossDomains) {
  constexpr uint16_t former = 7, next = 9;
  constexpr uint8_t vpid = 3;
  constexpr uint64_t mine = rma_data, theirs = rma_data + 0x10'0000;
  // A stop takes at most the time-out of answers, which is 40 ticks, and one tick after the last answer
  // (docs/memory-map.md). Each of the twelve objects may wait for a read of the slow host, for 7,000 cycles. The last
  // one may wait for twice its 2 ticks.
  constexpr uint64_t longest = 41 * 1024 + 12 * 7'000 + 2 * 2 * 1024;
  rig& r = w_->r;
  rng g(base_seed());
  w_->driver.map(0, nla(0, 1), mine, former);
  w_->driver.map(0, nla(0, 2), theirs, next);
  w_->driver.map(1, nla(0, 1), mine, former);
  for (unsigned n = 0; n < 2; ++n) r.write_register(n, GGAS_REG_RMA_TIMEOUT, 2 | 40 << 16);
  auto& slow = r.s[1].host->behaviour;
  unsigned unexpected = 0;
  for (unsigned round = 0; round < 30; ++round) {
    slow.read_delay_min = unsigned(g.below(4'000));
    slow.read_delay_max = slow.read_delay_min + 3'000;
    rma_user a(r, {.side = 0, .vpid = vpid, .pd = former, .backpressure = false}, round);
    a.enable();
    const bool gives_up = round % 2;  // else nothing is waited for, and what its targets refuse comes when it is gone
    for (unsigned i = 0; i < 12; ++i) {
      descriptor d{.op = !gives_up || i % 3 == 1 ? desc_op::put : i % 3 == 0 ? desc_op::get : desc_op::atomic};
      d.node = r.cfg.id[1];
      d.size = d.op == desc_op::atomic ? 8 : unsigned(g.range(1, 600));
      d.w1 = nla(0, 1, 64);
      d.w2 = d.op == desc_op::get ? nla(0, 2, 8 * i) : nla(0, d.op == desc_op::put ? 99 : 1, 0x100);
      if (d.op == desc_op::atomic) d.second[1] = nla(0, 2, 16 * i);
      a.post(d);
    }
    for (unsigned i = unsigned(g.range(50, gives_up ? 3'000 : 600)); i; --i) {
      a.pump();
      r.step();
    }
    a.disable();
    const uint64_t limit = r.now() + longest;
    while (!a.stopped()) ASSERT_LT(r.now(), limit) << r.report();

    const uint64_t late = r.events(0, GGAS_EV_UNEXPECTED_RSP);
    rma_user b(r, {.side = 0, .vpid = vpid, .pd = next, .rings = rma_rings + 0x4000'0000}, round);
    b.enable();
    unsigned written = 0;
    r.on_tlp_out = [&](unsigned at, const pcie::tlp& t) {
      const bool rings = t.addr - b.notify_ring() < 0x100'0000;
      if (at == 0 && t.posted() && (rings || t.addr - theirs < 0x1000)) ++written;
    };
    r.run(8'000);
    r.on_tlp_out = nullptr;
    EXPECT_EQ(written, 0u) << "round " << round;
    EXPECT_EQ(b.errors(), 0u);
    unexpected += unsigned(r.events(0, GGAS_EV_UNEXPECTED_RSP) - late);
    b.disable();
    while (!b.stopped()) ASSERT_LT(r.now(), limit + longest) << r.report();
  }
  EXPECT_GT(unexpected, 10u) << "nothing came late: the test shows nothing";
  EXPECT_CLEAN(r);
}

// A register read pushes writes to host memory in front of it, but not those to a device at another port. A strong
// notification to the own node reads back from the device: when it arrives, earlier writes to the device have arrived.
TEST_P(Stop, RingsInDeviceMemoryAreFlushed) {
  constexpr uint64_t device = 0x20'0000'0000;
  constexpr uint8_t vpid = 5;
  rig& r = w_->r;
  auto& h = r.s[0].host->behaviour;
  h.far_base = device;
  h.far_bytes = 0x1000'0000;
  h.far_delay = 3'000;
  w_->driver.map(0, nla(0, 1), device, 1);
  rma_user& driver = w_->user({.side = 0, .vpid = 9, .pd = 1});
  rma_user& sender = w_->user({.side = 1, .vpid = 9, .pd = 1, .backpressure = false});
  unsigned late = 0;
  for (unsigned round = 0; round < 12; ++round) {
    rma_user u(r, {.side = 0, .vpid = vpid, .pd = 1, .backpressure = false, .rings = device}, round);
    u.enable();
    for (unsigned i = 0; i < 20; ++i) {
      descriptor d{.op = i % 2 ? desc_op::send : desc_op::notify};
      d.notify_completer = i % 2 == 0;
      d.dvpid = vpid;
      d.node = r.cfg.id[0];
      sender.post(d);
    }
    for (unsigned i = 0; i < 1'500; ++i) {
      w_->pump();
      r.step();
    }
    u.disable();
    while (!u.stopped()) continue;
    const auto rings = [&] {
      std::vector<uint64_t> all;
      for (uint64_t i = 0; i < 0x400; i += 8) {
        all.push_back(r.s[0].host->mem.load64(u.notify_ring() + i));
        all.push_back(r.s[0].host->mem.load64(u.mailbox() + i));
      }
      return all;
    };
    const auto acknowledged = rings();
    driver.post({.op = desc_op::notify,
                 .notify_completer = true,
                 .strong = true,
                 .dvpid = 9,
                 .node = r.cfg.id[0],
                 .w2 = nla(0, 1)});
    const size_t notes = driver.notes.size();
    ASSERT_TRUE(r.run_until(
        [&] {
          w_->pump();
          return driver.notes.size() > notes;
        },
        100'000, "the flush"))
        << r.report();
    const auto flushed = rings();
    late += flushed != acknowledged;
    r.run(2 * h.far_delay);
    EXPECT_EQ(rings(), flushed) << "round " << round;
  }
  EXPECT_GT(late, 3u) << "nothing was under way: the test shows nothing";
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Devices, Stop, testing::Values(device{64}, device{256}));

}  // namespace
}  // namespace ggas::test
