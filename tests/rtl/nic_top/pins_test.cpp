// SPDX-License-Identifier: Apache-2.0
// What software changes in configuration space while the NIC works: MPS and MRRS, bus master, function-level reset.
#include <algorithm>
#include <map>

#include "tests/rtl/nic_top/rma_helpers.hpp"

namespace ggas::test {
namespace {

using nic::desc_op;
using nic::descriptor;

class Pins : public testing::TestWithParam<unsigned> {
 protected:
  void start(const host_behaviour& h, uint32_t clock_khz = 1'000) {
    rig_config c{.behaviour = h, .load_ticks = 20, .host_ticks = 5, .seed = base_seed()};
    c.host.clock_khz = clock_khz;
    w_ = std::make_unique<rma_world>(device{.width = GetParam()}, c);
    ASSERT_TRUE(w_->set_up()) << w_->r.report();
    w_->r.scoreboards(false);
    for (unsigned n = 0; n < 2; ++n) w_->r.write_register(n, GGAS_REG_RMA_TIMEOUT, 40 | 5 << 16);
  }
  // Everything that makes NIC 0 read and write its host, and be read: stores, loads, quiets and events.
  void access() {
    rig& r = w_->r;
    for (unsigned n = 0; n < 2; ++n) {
      if (r.s[n].host->queued() > 4) continue;
      const uint64_t at = 4 * random_.below(0x4000);
      switch (random_.below(4)) {
        case 0:
          r.write(n, make_write(bar_window, r.window(1 - n, (at & ~uint64_t{0xff}) + 0x40'000),
                                some_dws(unsigned(random_.range(1, n ? 64 : 32)), 5)));
          break;
        case 1: {
          const unsigned dws = unsigned(random_.range(1, 150));
          const uint64_t from = at & ~uint64_t{0x3ff};
          r.s[n].host->read(make_read(bar_window, r.window(1 - n, from), dws),
                            [this](const read_result& got) { ++loads_, ones_ += got.ones(), bad_ += !got.ok(); });
          break;
        }
        case 2:
          r.s[n].host->read(make_read(bar_pages, 0, 1), [this](const read_result& got) { bad_ += !got.ok(); });
          break;
        default:  // STORE_UNMAPPED: a record, a message
          r.write(n, make_write(bar_window, 3 * r.cfg.stride, some_dws(1, 1)));
      }
    }
  }
  void work(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) {
      if (random_.below(8) == 0) access();
      w_->pump();
      w_->r.step();
    }
  }
  void tell_events() {
    for (unsigned n = 0; n < 2; ++n)
      w_->r.write_register(n, GGAS_REG_EVQ_TAIL, w_->r.read_register(n, GGAS_REG_EVQ_HEAD));
  }

  std::unique_ptr<rma_world> w_;
  rng random_{base_seed()};
  uint64_t loads_ = 0, ones_ = 0, bad_ = 0;
};

// Nothing is cut larger than the sizes allow at that time, and no byte suffers from a change, wherever it falls.
TEST_P(Pins, SizesChangeAtRandomTimes) {
  // Cycles from the cut to the last beat at the pins, with a host that accepts everything at once. The request may have
  // to wait for a write of another unit, and then needs its own beats.
  constexpr uint64_t pipeline = 80;
  start(fast_host());
  rig& r = w_->r;
  for (unsigned n = 0; n < 2; ++n)
    for (uint64_t at = 0; at < 0x4'0000; at += 4) r.s[n].host->mem.store32(r.bus(n, at), uint32_t(at ^ n), 15);
  bystanders users(*w_, base_seed());
  uint16_t mps = 256, mrrs = 512;
  std::map<unsigned, uint64_t> allowed_writes, allowed_reads;  // until when a size was allowed
  uint64_t writes = 0, reads = 0;
  r.on_tlp_out = [&](unsigned n, const pcie::tlp& t) {
    if (n != 0 || t.completion() || 4u * t.len_dw <= 128) return;
    auto& allowed = t.posted() ? allowed_writes : allowed_reads;
    const auto it = allowed.lower_bound(4u * t.len_dw);
    if (it == allowed.end() || it->second + pipeline < r.now())
      r.fail.add("{} of {} DW, MPS {} MRRS {}", t.posted() ? "write" : "read", t.len_dw, mps, mrrs);
    ++(t.posted() ? writes : reads);
  };
  r.on_step = [&] {
    for (unsigned size = 128; size <= mps; size *= 2) allowed_writes[size] = r.now();
    for (unsigned size = 128; size <= mrrs; size *= 2) allowed_reads[size] = r.now();
  };
  unsigned wrong = 0, checked = 0;
  for (unsigned round = 0; round < 1'000 && r.fail.none(); ++round) {
    mps = uint16_t(128u << random_.below(2));
    mrrs = uint16_t(128u << random_.below(3));
    r.s[0].nic->sizes(mps, mrrs);
    for (unsigned k = unsigned(random_.range(1, 150)); k; --k) {
      if (random_.below(20) == 0) {  // loads of both sides: of known words
        const unsigned n = unsigned(random_.below(2)), dws = unsigned(random_.range(1, 150));
        const uint64_t at = 0x400 * random_.below(0x100) + 4 * random_.below(100);
        if (r.s[n].host->outstanding() < 20)
          r.s[n].host->read(make_read(bar_window, r.window(1 - n, at), dws), [&, at, dws, n](const read_result& got) {
            ++checked;
            for (unsigned i = 0; i < dws; ++i) wrong += got.dws.at(i) != uint32_t((at + 4 * i) ^ (1 - n));
          });
      }
      if (random_.below(20) == 0 && r.s[1].host->queued() < 4)
        r.write(1, make_write(bar_window, r.window(0, 0x8'0000 + 256 * random_.below(64)), some_dws(64, 9)));
      users.keep_busy();
      w_->pump();
      r.step();
    }
  }
  EXPECT_TRUE(w_->finish()) << r.report();
  r.settle();
  users.traffic.check();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(checked, 800u);
  EXPECT_GT(writes, 200u);
  EXPECT_GT(reads, 200u);
  EXPECT_EQ(r.events(0, GGAS_EV_BAD_PACKET) + r.events(1, GGAS_EV_BAD_PACKET), 0u);
  EXPECT_CLEAN(r);
}

// With bus master off no request and no message leaves, and no unit waits for one. Posted requests, register reads and
// the other node continue; requests of the NIC end with an error.
TEST_P(Pins, BusMasterAtRandomTimes) {
  host_behaviour h = fast_host();
  h.stall = 0.03;
  start(h);
  rig& r = w_->r;
  bool off = false;
  uint64_t since = 0, while_off = 0, requests = 0, messages = 0;
  r.on_tlp_out = [&](unsigned n, const pcie::tlp& t) {
    if (n != 0 || t.completion()) return;
    ++requests;
    messages += t.addr == rig::msix_page;
    // The pin is registered; what had begun ends.
    if (off && r.now() > since + 3 + (t.posted() ? t.len_dw + 40u : 0)) ++while_off;
  };
  w_->driver.map(1, nla(0, 1), rma_data, 7);
  w_->driver.map(0, nla(0, 2), rma_data, 7);
  rma_user& sender = w_->user({.side = 1, .vpid = 9, .pd = 7});
  uint64_t seen_errors = 0, dropped = 0;
  for (unsigned round = 0; round < 60 && r.fail.none(); ++round) {
    for (unsigned k = 0; k < 4; ++k) {
      descriptor d{.op = k == 1 ? desc_op::get : k == 2 ? desc_op::atomic : desc_op::put};
      d.node = r.cfg.id[0];
      d.size = d.op == desc_op::atomic ? 8 : 200;
      d.ack = true;
      d.w1 = nla(0, d.op == desc_op::put ? 1 : 2);
      d.w2 = nla(0, d.op == desc_op::put ? 2 : 1, 0x400);
      if (d.op == desc_op::atomic) d.w1 = nla(0, 2), d.w2 = 1, d.second[1] = nla(0, 1, 0x800);
      sender.post(d);
    }
    work(random_.range(1, 400));
    r.s[0].nic->bus_master(false);
    off = true, since = r.now();
    work(random_.range(1, 3'000));
    EXPECT_EQ(r.read_register(0, GGAS_REG_ID) & 0xffffffff, 0x53414747u);
    const auto own = r.read(1, make_read(bar_window, r.window(0, 0x100), 8), 60'000);
    EXPECT_TRUE(own.ones()) << r.report();
    // whatever was asked for ends, though no request leaves
    r.run_until(
        [&] {
          w_->pump();
          return sender.all_written() && r.s[0].host->idle() && r.s[1].host->idle();
        },
        200'000, "end of all");
    dropped = r.events(0, GGAS_EV_REQUEST_DROPPED);
    r.s[0].nic->bus_master(true);
    off = false;
    tell_events();
    seen_errors = sender.errors();
  }
  w_->r.run(60'000);
  EXPECT_EQ(while_off, 0u);
  EXPECT_EQ(bad_, 0u) << "reads of the hosts that ended in an error";
  EXPECT_GT(dropped, 20u);
  EXPECT_GT(requests, 400u);
  EXPECT_GT(messages, 20u);
  EXPECT_GT(seen_errors, 20u);
  EXPECT_GT(ones_, 10u);
  for (unsigned n = 0; n < 2; ++n) r.quiet(n);
  expect_alive(r);
  EXPECT_CLEAN(r);
}

// A reset at any time ends in bounded time, in the state after power-up; no read after it gets a completion of a read
// from before it. The neighbour sees the link die and come up.
TEST_P(Pins, FunctionLevelReset) {
  constexpr uint32_t clock_khz = 1'000;  // so 64 ms are 64,000 cycles
  constexpr uint64_t before = 0x0bad0bad, behind = 0x600d600d;
  constexpr unsigned owned = 5;  // a context that someone has
  host_behaviour h = fast_host();
  h.stall = 0.02;
  start(h, clock_khz);
  rig& r = w_->r;
  rma_user& sender = w_->user({.side = 1, .vpid = 9, .pd = 7});
  w_->driver.map(1, nla(0, 1), rma_data, 7);
  bool in_reset = false;
  uint64_t begun = 0, since = 0, longest = 0;
  r.on_tlp_out = [&](unsigned n, const pcie::tlp& t) {
    begun += n == 0 && in_reset && r.now() > since + 80 + t.len_dw;
  };
  for (unsigned round = 0; round < 24 && r.fail.none(); ++round) {
    const bool silent = round % 8 == 7;  // reads are never answered
    auto& host = *r.s[0].host;
    host.behaviour.read_delay_max = round % 3 ? 4'000 : 1;
    if (silent) host.fate = [](const pcie::tlp&) { return read_fate::silent; };
    for (uint64_t at = 0; at < 0x1'0000; at += 4) host.mem.store32(r.bus(0, at), uint32_t(before), 15);
    for (unsigned k = 0; k < 6; ++k) {
      descriptor d{.op = desc_op::put};
      d.node = r.cfg.id[0], d.size = 1'000, d.w1 = nla(0, 1), d.w2 = nla(0, 2);
      sender.post(d);
    }
    work(random_.range(50, 3'000));
    r.write_register(0, GGAS_REG_CONTEXT_CTRL(owned), GGAS_CONTEXT_CTRL_ENABLE_MASK);
    EXPECT_EQ(r.read_register(0, GGAS_REG_CONTEXT_STATE(owned)) & GGAS_CONTEXT_STATE_STOPPED_MASK, 0u);
    r.s[0].nic->reset_function();
    in_reset = true, since = r.now();
    r.run_until(
        [&] {
          if (random_.below(6) == 0) access();  // no one must, but someone may
          w_->pump();
          return !r.s[0].nic->in_reset();
        },
        64 * clock_khz + 2'000, "function-level reset");
    in_reset = false;
    longest = std::max(longest, r.now() - since);
    if (silent) {
      EXPECT_GT(r.now() - since, 50u * clock_khz);
    } else {
      EXPECT_LT(r.now() - since, 10'000u);
    }
    host.fate = nullptr;
    host.behaviour.read_delay_max = 1;
    r.run(3'000);         // requests of the host that were in flight
    host.forget_reads();  // those that were dropped
    for (uint64_t at = 0; at < 0x1'0000; at += 4) host.mem.store32(r.bus(0, at), uint32_t(behind), 15);
    EXPECT_EQ(r.read_register(0, GGAS_REG_SMFU_CTRL), 0u);
    EXPECT_EQ(r.read_register(0, GGAS_REG_NODE), 0u);
    EXPECT_NE(r.read_register(0, GGAS_REG_CONTEXT_STATE(owned)) & GGAS_CONTEXT_STATE_STOPPED_MASK, 0u);
    EXPECT_EQ(r.read_register(0, GGAS_REG_LINK_RX_PACKETS), 0u);
    EXPECT_EQ(r.read_register(0, GGAS_REG_STOPPED) & GGAS_STOPPED_INGRESS_MASK, GGAS_STOPPED_INGRESS_MASK);
    const uint64_t ups = r.events(1, GGAS_EV_LINK_UP);
    for (auto& x : r.s) x.next_seq = 0;
    ASSERT_TRUE(r.retrain()) << r.report();
    ASSERT_TRUE(r.set_up()) << r.report();
    w_->start();
    EXPECT_EQ(r.events(0, GGAS_EV_LINK_UP), 1u);
    EXPECT_GT(r.events(1, GGAS_EV_LINK_UP), ups);
    EXPECT_GT(r.events(1, GGAS_EV_LINK_DEAD), round);
    r.quiet(1);
    for (unsigned k = 0; k < 40; ++k) {
      const auto got = r.read(1, make_read(bar_window, r.window(0, 0x400 * random_.below(0x3c)), 100));
      ASSERT_EQ(std::ranges::count(got.dws, uint32_t(behind)), 100) << "round " << round << " " << r.report();
    }
    EXPECT_EQ(r.events(0, GGAS_EV_UNEXPECTED_CPL), 0u);
    expect_alive(r);
    tell_events();
  }
  EXPECT_EQ(begun, 0u);
  EXPECT_GT(longest, 50u * clock_khz);
  EXPECT_CLEAN(r);
}

INSTANTIATE_TEST_SUITE_P(Widths, Pins, testing::Values(64u, 256u));

}  // namespace
}  // namespace ggas::test
