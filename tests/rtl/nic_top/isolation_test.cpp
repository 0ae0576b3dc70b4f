// SPDX-License-Identifier: Apache-2.0
// What memory that does not answer, of one context, costs the others: the bounds of docs/rma.md.
#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test::isolation_test {
namespace {

using nic::desc_op;
using nic::descriptor;

constexpr unsigned host_ticks = 6, load_ticks = 20;
constexpr uint64_t tick = 1024, wait = (host_ticks + 1) * tick;  // the longest that a read of the host is waited for
constexpr uint64_t slack = 2'000;                                // everything else

class Isolation : public testing::TestWithParam<device> {
 protected:
  void SetUp() override {
    w_ = std::make_unique<rma_world>(
        GetParam(),
        rig_config{.behaviour = fast_host(), .load_ticks = load_ticks, .host_ticks = host_ticks, .seed = base_seed()});
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    w_->r.scoreboards(false);
    for (unsigned n = 0; n < 2; ++n) {
      w_->r.write_register(n, GGAS_REG_RMA_TIMEOUT, 1000 | host_ticks << 16);
      w_->driver.map(n, good, rma_data, 1);
      w_->driver.map(n, hung, hung_bus, 1);
    }
  }
  // Reads of the hung page are never answered on that side.
  void hang(unsigned side) {
    w_->r.s[side].host->fate = [](const pcie::tlp& t) {
      return t.addr - hung_bus < 0x1000 ? read_fate::silent : read_fate::answer;
    };
  }
  // The longest that one of `u`'s puts takes, of `count`; `others` goes on meanwhile.
  uint64_t longest_put(rma_user& u, unsigned count, const std::function<void()>& others) {
    uint64_t longest = 0;
    for (unsigned i = 0; i < count; ++i) {
      descriptor d{.op = desc_op::put, .ack = true};
      d.node = w_->r.cfg.id[1];
      d.size = 64;
      d.w1 = good;
      d.w2 = good + 0x800;
      u.post(d);
      const uint64_t begin = w_->r.now();
      w_->r.run_until(
          [&] {
            others();
            w_->pump();
            return u.done();
          },
          40 * wait, "a put beside hung ones");
      longest = std::max(longest, w_->r.now() - begin);
    }
    EXPECT_EQ(u.errors(), 0u);
    return longest;
  }
  static constexpr uint64_t good = uint64_t{1} << 12, hung = uint64_t{2} << 12, hung_bus = rma_data + 0x10'0000;
  std::unique_ptr<rma_world> w_;
};

// Puts leave in the order in which their reads began. A put that waits for its source blocks those after it until its
// reads are given up. Then the tags of these reads stay unused for the same time again.
TEST_P(Isolation, PutsBehindASourceThatHangs) {
  hang(0);
  std::vector<rma_user*> bad;
  for (uint8_t v = 10; v < 13; ++v) bad.push_back(&w_->user({.side = 0, .vpid = v, .pd = 1, .backpressure = false}));
  rma_user& u = w_->user({.side = 0, .vpid = 3, .pd = 1});
  const uint64_t longest = longest_put(u, 12, [&] {
    for (rma_user* x : bad) {
      if (!x->all_written()) continue;
      descriptor d{.op = desc_op::put};
      d.node = w_->r.cfg.id[1];
      d.size = 4096;
      d.w1 = hung;
      d.w2 = good;
      x->post(d);
    }
  });
  std::printf("longest put beside 3 contexts whose source hangs: %.1f of RMA_TIMEOUT.host\n", double(longest) / wait);
  EXPECT_LE(longest, 4 * wait + slack);
  EXPECT_GT(longest, wait / 2) << "nothing hung";
  for (rma_user* x : bad) EXPECT_GT(x->errors(), 0u);
}

// A strong notification holds its channel until the target's memory has answered, or has not in time.
TEST_P(Isolation, PacketsBehindAFlushThatHangs) {
  hang(1);
  rma_user& bad = w_->user({.side = 0, .vpid = 10, .pd = 1, .backpressure = false});
  rma_user& u = w_->user({.side = 0, .vpid = 3, .pd = 1});
  w_->user({.side = 1, .vpid = 4, .pd = 1, .backpressure = false});
  const uint64_t longest = longest_put(u, 12, [&] {
    if (!bad.all_written()) return;
    descriptor d{.op = desc_op::notify, .notify_completer = true, .strong = true, .dvpid = 4};
    d.node = w_->r.cfg.id[1];
    d.w2 = hung;
    bad.post(d);
  });
  std::printf("longest put beside a strong notification that hangs: %.1f of RMA_TIMEOUT.host\n",
              double(longest) / wait);
  EXPECT_LE(longest, wait + slack);
}

// Hanging window loads do not block register reads, even if there are more of them than the matching store holds. If
// the loads use all credits of the host, they block register reads for as long as a load may wait for its target or for
// the network.
TEST_P(Isolation, RegistersBesideLoadsThatHang) {
  auto& h = *w_->r.s[0].host;
  h.behaviour.max_reads = 400;
  const auto loads = [&](unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      h.read(make_read(bar_window, w_->r.window(1, 64 * i), 16), [](const read_result&) {});
    w_->r.run(3'000);
    EXPECT_EQ(h.outstanding() + h.queued(), n) << "loads do not hang";
  };
  const auto longest_read = [&](unsigned count) {
    uint64_t longest = 0;
    for (unsigned i = 0; i < count; ++i) {
      const uint64_t begin = w_->r.now();
      w_->r.read_register(0, GGAS_REG_NODE);
      longest = std::max(longest, w_->r.now() - begin);
    }
    return longest;
  };
  const auto end = [&] {
    return w_->r.run_until([&] { return h.outstanding() == 0; }, 300 * wait, "the end of the loads");
  };
  for (const bool network : {false, true}) {
    if (network)
      w_->r.s[1].host->behaviour.stall = 1, w_->r.s[1].host->behaviour.stall_max = 1u << 30;
    else
      w_->r.s[1].host->fate = [](const pcie::tlp&) { return read_fate::silent; };
    loads(88);
    EXPECT_LE(longest_read(20), 200u);
    ASSERT_TRUE(end());
    loads(100);
    const uint64_t longest = longest_read(1);
    std::printf("register read behind 100 loads that hang: %.1f of SMFU_TIMEOUT.load\n",
                double(longest) / (load_ticks * tick));
    EXPECT_LE(longest, (load_ticks + 3) * tick + slack);
    ASSERT_TRUE(end());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Isolation, testing::Values(device{64}, device{256}));

}  // namespace
}  // namespace ggas::test::isolation_test
