// SPDX-License-Identifier: Apache-2.0
// Cycles through an idle SMFU, and its rates.
#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

template <class T>
class smfu_timing : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  void SetUp() override {
    base::SetUp();
    EXPECT_TRUE(b.settle());  // the lookup has found the intervals that were just armed, the target its export
  }
};
TYPED_TEST_SUITE(smfu_timing, widths);

TYPED_TEST(smfu_timing, store_out) {
  auto& b = this->b;
  b.host(this->store(TestFixture::window, 16));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_p.all.size(), 1u);
  const uint64_t in = b.win_p.taken_sop;  // one packet, so its first beat
  EXPECT_LE(b.tx_p.all[0].first - in, 4u);
  EXPECT_EQ(b.tx_p.all[0].last - b.tx_p.all[0].first, 16 / b.words - 1) << "no bubbles";
}

TYPED_TEST(smfu_timing, store_in) {
  auto& b = this->b;
  packet p = net_packet(nic::op::store, 2, 0x40, 16);
  p.data.resize(16);
  b.push(b.rx_p, p);
  const uint64_t begin = b.now;
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), 1u);
  EXPECT_LE(b.tgt_req.all[0].first - begin, 3u);
  EXPECT_EQ(b.tgt_req.all[0].last - b.tgt_req.all[0].first, 16 / b.words - 1) << "no bubbles";
}

TYPED_TEST(smfu_timing, loads) {
  auto& b = this->b;
  b.host(this->load(TestFixture::window, 16, 1));
  uint64_t begin = b.now;
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_np.all.size(), 1u);
  EXPECT_LE(b.tx_np.all[0].first - begin, 6u);
  b.push(b.rx_rsp, answer_to(b.tx_np.all[0].t));
  begin = b.now;
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.ld_cpl.all.size(), 1u);
  EXPECT_LE(b.ld_cpl.all[0].first - begin, 4u);
  EXPECT_EQ(b.ld_cpl.all[0].last - b.ld_cpl.all[0].first, 16 / b.words - 1) << "no bubbles";
  b.push(b.rx_np, net_packet(nic::op::load, 2, 0x40, 16));
  begin = b.now;
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), 1u);
  EXPECT_LE(b.tgt_req.all[0].first - begin, 4u);
}

TYPED_TEST(smfu_timing, small_stores_at_full_rate) {
  auto& b = this->b;
  for (unsigned i = 0; i < 100; ++i) b.host(this->store(TestFixture::window + 8 * i, 2));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_p.all.size(), 100u);
  EXPECT_LE(b.tx_p.all[99].first - b.tx_p.all[0].first, 99u) << "one a cycle out";
  for (unsigned i = 0; i < 100; ++i) {
    packet p = net_packet(nic::op::store, 2, 8 * i, 2);
    p.data.resize(2);
    b.push(b.rx_p, p);
  }
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), 100u);
  EXPECT_LE(b.tgt_req.all[99].first - b.tgt_req.all[0].first, 2 * 99u) << "one in two cycles in";
}

// Loads of 64 bytes, on both sides: one leaves each cycle, and answers and completions follow each other without a gap.
TYPED_TEST(smfu_timing, loads_at_full_rate) {
  auto& b = this->b;
  constexpr unsigned loads = 60, dws = 16;
  const uint64_t beats = dws / b.words;
  for (unsigned i = 0; i < loads; ++i) b.host(this->load(TestFixture::window + 64 * i, dws, i));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_np.all.size(), loads);
  EXPECT_LE(b.tx_np.all.back().first - b.tx_np.all[0].first, loads - 1u);
  for (const auto& s : b.tx_np.all) b.push(b.rx_rsp, answer_to(s.t));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.ld_cpl.all.size(), loads);
  EXPECT_LE(b.ld_cpl.all.back().last - b.ld_cpl.all[0].first, loads * beats - 1);
  for (unsigned i = 0; i < loads; ++i) {
    packet p = net_packet(nic::op::load, 2, 64 * i, dws);
    p.tag = uint16_t(i);
    b.push(b.rx_np, p);
  }
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), loads);
  EXPECT_LE(b.tgt_req.all.back().first - b.tgt_req.all[0].first, loads - 1u);
  for (const auto& s : b.tgt_req.all) {
    tlp c;
    c.kind = tlp_kind::cpld;
    c.tag = s.t.tag;
    c.len_dw = dws;
    c.byte_count = 4 * dws;
    c.data.resize(dws);
    b.push(b.tgt_cpl, c);
  }
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_rsp.all.size(), loads);
  EXPECT_LE(b.tx_rsp.all.back().last - b.tx_rsp.all[0].first, loads * beats - 1);
}

// Stores without a gap, and a host that takes a beat every other cycle: a read has its turn, whichever cycle of a store
// the host takes.
TYPED_TEST(smfu_timing, reads_have_their_turn_among_stores) {
  auto& b = this->b;
  for (unsigned phase = 0; phase < 2; ++phase) {
    b.clear_outputs();
    for (unsigned i = 0; i < 100; ++i) {
      packet p = net_packet(nic::op::store, 2, 8 * i, 2);
      p.data.resize(2);
      b.push(b.rx_p, p);
    }
    size_t before = 0;  // writes before the load
    for (unsigned i = 0; i < 500; ++i) {
      if (i == 20) {
        before = b.tgt_req.all.size();
        b.push(b.rx_np, net_packet(nic::op::load, 2, 0x4000, 4));
      }
      b.tgt_req.percent = i % 2 == phase ? 100 : 0;
      b.step();
    }
    ASSERT_EQ(b.tgt_req.all.size(), 101u);
    const auto read = std::ranges::find(b.tgt_req.all, tlp_kind::mrd, [](const auto& s) { return s.t.kind; });
    EXPECT_LE(read - b.tgt_req.all.begin(), before + 6) << "phase " << phase;
  }
}

// A host that is ready for what is offered, and not before.
TYPED_TEST(smfu_timing, ready_follows_valid) {
  auto& b = this->b;
  packet p = net_packet(nic::op::store, 2, 0x40, 16);
  p.data.resize(16);
  b.push(b.rx_p, p);
  b.push(b.rx_np, net_packet(nic::op::load, 2, 0x4000, 4));
  for (unsigned i = 0; i < 100; ++i) {
    b.tgt_req.percent = pins::get(b.v.tgt_req_o, pins::valid) ? 100 : 0;
    b.step();
  }
  EXPECT_EQ(b.tgt_req.all.size(), 2u);
}

// Packets that name another export than the one before them: two cycles more.
TYPED_TEST(smfu_timing, exports_in_turn) {
  auto& b = this->b;
  b.give_out(9, home_base + home_size, home_size, home_domain);
  for (unsigned i = 0; i < 100; ++i) {
    packet p = net_packet(nic::op::store, 2, 8 * i, 2);
    p.export_no = i % 2 ? 9 : home_export;
    p.data.resize(2);
    b.push(b.rx_p, p);
  }
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tgt_req.all.size(), 100u);
  EXPECT_LE(b.tgt_req.all[99].first - b.tgt_req.all[0].first, 4 * 99u);
}

TYPED_TEST(smfu_timing, long_payload_without_bubbles) {
  auto& b = this->b;
  for (unsigned i = 0; i < 10; ++i) b.host(this->store(TestFixture::window + 256 * i, 64));
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.tx_p.all.at(9).last - b.tx_p.all[0].first, 10 * 64 / b.words - 1);
}

TYPED_TEST(smfu_timing, idle_unit_may_stop) {
  auto& b = this->b;
  EXPECT_TRUE(b.settle());
  b.gate = true;
  const uint64_t edges = b.edges;
  b.run(10000);
  EXPECT_EQ(b.edges, edges);
  b.host(this->load(TestFixture::window, 1, 1));
  b.run(5000);
  EXPECT_LE(b.edges - edges, 20 + 6 * 80u) << "a waiting load costs one walk a tick";
  EXPECT_TRUE(b.v.timer_o);
}

}  // namespace
}  // namespace ggas::test::smfu
