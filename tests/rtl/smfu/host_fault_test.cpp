// SPDX-License-Identifier: Apache-2.0
// Faults on the side of the host that stores and loads.
#include "tests/rtl/smfu/fault_suite.hpp"

namespace ggas::test::smfu {
namespace {

TYPED_TEST(smfu_fault, unmapped_store) {
  this->b.host(this->store(0x1000, 40));
  EXPECT_TRUE(this->b.settle());
  EXPECT_TRUE(this->b.tx_p.all.empty());
  this->expect_event(GGAS_EV_STORE_UNMAPPED, 0, 0x1000);
}

TYPED_TEST(smfu_fault, unmapped_load) {
  const tlp t = this->load(0x1004, 3, 9, 0xc, 0x3);
  this->start(t);
  this->expect_ones(t);
  this->expect_event(GGAS_EV_LOAD_UNMAPPED, 0, 0x1004);
}

TYPED_TEST(smfu_fault, unreachable_node) {
  auto& b = this->b;
  b.host(this->store(TestFixture::window + 2 * TestFixture::span, 4));
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(b.tx_p.all.empty());
  this->expect_event(GGAS_EV_STORE_UNREACHABLE, 3, (TestFixture::window + 2 * TestFixture::span) & 0xff'ffff'ffff);
  const tlp t = this->load(TestFixture::window + 2 * TestFixture::span, 4, 9);
  this->start(t);
  this->expect_ones(t);
  this->expect_event(GGAS_EV_LOAD_UNREACHABLE, 3, t.addr & 0xff'ffff'ffff);
  b.clear_outputs();
  b.host(quiet_read(1));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.ld_cpl.all.size(), 1u);
  EXPECT_EQ(b.ld_cpl.all[0].t.data[0], uint32_t(net_status::unreachable));
  EXPECT_EQ(b.ld_cpl.all[0].t.data[1], 0u);
}

TYPED_TEST(smfu_fault, many_unmapped_stores_are_all_counted) {
  auto& b = this->b;
  b.event_percent = 1;
  for (unsigned i = 0; i < 200; ++i) b.host(this->store(0x1000 + 4 * i, 1));
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.event_count[GGAS_EV_STORE_UNMAPPED], 200u);
  EXPECT_LT(b.events.size(), 200u) << "the queue must have overflowed for this test to mean something";
  b.event_percent = 100;
}

TYPED_TEST(smfu_fault, load_time_out) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  const tlp t = this->load(TestFixture::window + 0x80, 128, 3);  // three chunks
  const auto q = this->start(t);
  ASSERT_EQ(q.size(), 3u);
  EXPECT_TRUE(b.v.timer_o);
  const uint64_t begin = b.now;
  while (b.ld_cpl.all.empty() && b.now < begin + 5000) b.step();
  EXPECT_TRUE(b.settle());
  EXPECT_GE(b.now, begin + 1024);
  this->expect_ones(t);
  this->expect_event(GGAS_EV_LOAD_TIMEOUT, 2, q[0].tag);
  EXPECT_EQ(b.event_intervals, std::vector<unsigned>{0});
  EXPECT_FALSE(b.v.timer_o);
  // The answers come after all.
  b.clear_outputs();
  for (const packet& p : q) b.push(b.rx_rsp, answer_to(p));
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_RSP], 3u);
  EXPECT_EQ(b.events[0], (logged_event{GGAS_EV_UNEXPECTED_RSP, 2, q[0].tag}));
  EXPECT_TRUE(b.ld_cpl.all.empty());
}

// The header of the last answer still stands at the input when another load is given up.
TYPED_TEST(smfu_fault, time_out_after_an_answer) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  b.host(this->load(TestFixture::window, 16, 1));
  b.host(this->load(TestFixture::window, 16, 2));
  EXPECT_TRUE(b.settle());
  b.push(b.rx_rsp, answer_to(b.tx_np.all.at(0).t));
  b.run(4000);
  ASSERT_EQ(b.ld_cpl.all.size(), 2u);
  this->expect_ones(this->load(TestFixture::window, 16, 2));
  b.cfg.timeout_load = 1000;
}

// A late answer must not end up in the load that has the slot now.
TYPED_TEST(smfu_fault, late_answer_meets_a_reused_slot) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  const auto old = this->start(this->load(TestFixture::window, 1, 0));
  b.run(5000);
  EXPECT_EQ(b.event_count[GGAS_EV_LOAD_TIMEOUT], 1u);
  b.cfg.timeout_load = 1000;
  b.clear_outputs();
  for (unsigned i = 1; i <= 64; ++i) b.host(this->load(TestFixture::window + 0x100, 1, i));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.tx_np.all.size(), 64u) << "64 loads outstanding";
  EXPECT_EQ(b.tx_np.all[63].t.tag & 63, old[0].tag & 63) << "the slot is in use again";
  b.push(b.rx_rsp, answer_to(old[0]));
  EXPECT_TRUE(b.settle());
  this->expect_event(GGAS_EV_UNEXPECTED_RSP, 2, old[0].tag);
  for (unsigned i = 0; i < 64; ++i) b.push(b.rx_rsp, answer_to(b.tx_np.all[i].t));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.ld_cpl.all.size(), 64u);
  for (const auto& c : b.ld_cpl.all) EXPECT_EQ(c.t.data.at(0), content(2, 0x100));
}

TYPED_TEST(smfu_fault, loads_beyond_the_store_wait) {
  auto& b = this->b;
  for (unsigned i = 0; i < 80; ++i) b.host(this->load(TestFixture::window, 1, i));
  b.run(1000);
  EXPECT_EQ(b.tx_np.all.size(), 64u);
  b.host(this->store(TestFixture::window, 2));
  b.run(30);
  EXPECT_EQ(b.tx_p.all.size(), 1u) << "stores pass";
  nodes world(b);
  for (unsigned i = 0; i < 3000; ++i) world.step(), b.step();
  EXPECT_EQ(b.ld_cpl.all.size(), 80u);
}

TYPED_TEST(smfu_fault, remote_error_ends_the_load_once) {
  auto& b = this->b;
  for (unsigned failing = 0; failing < 4; ++failing) {
    const tlp t = this->load(TestFixture::window, 256, 3);
    const auto q = this->start(t);
    ASSERT_EQ(q.size(), 4u);
    for (unsigned i = 0; i < 4; ++i)
      b.push(b.rx_rsp, answer_to(q[i], i == failing ? net_status::host_error : net_status::ok));
    EXPECT_TRUE(b.settle());
    this->expect_ones(t, 64 * failing);
    for (unsigned i = 0; i < failing; ++i) EXPECT_EQ(b.ld_cpl.all[i].t.data[0], content(2, 256 * i));
    this->expect_event(GGAS_EV_LOAD_REMOTE_ERROR, 2, uint64_t(net_status::host_error));
    EXPECT_EQ(b.event_intervals, std::vector<unsigned>{0});
  }
}

TYPED_TEST(smfu_fault, remote_error_and_the_rest_never_comes) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  const tlp t = this->load(TestFixture::window, 128, 3);
  const auto q = this->start(t);
  b.push(b.rx_rsp, answer_to(q[0], net_status::timeout));
  b.run(6000);
  EXPECT_FALSE(b.v.timer_o);
  this->expect_ones(t);
  this->expect_event(GGAS_EV_LOAD_REMOTE_ERROR, 2, uint64_t(net_status::timeout));
}

// Pieces of a load look alike. If the answer of one is lost, the next one is not taken for it.
TYPED_TEST(smfu_fault, the_answer_of_one_piece_is_lost) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  for (const unsigned mps : {128u, 512u})
    for (const uint64_t first : {0u, 0x80u, 0x3fcu, 0x404u})
      for (unsigned lost = 0; lost < 3; ++lost) {
        b.cfg.mps = uint16_t(mps);
        const tlp t = this->load(TestFixture::window + first, 256, 3);
        const auto q = this->start(t);
        ASSERT_GE(q.size(), 4u);
        for (size_t i = 0; i < q.size(); ++i)
          if (i != lost) b.push(b.rx_rsp, answer_to(q[i]));
        b.run(6000);
        EXPECT_FALSE(b.v.timer_o);
        this->expect_ones(t, lost ? unsigned(q[lost].addr - q[0].addr) / 4 : 0);
        this->expect_event(GGAS_EV_LOAD_TIMEOUT, 2, q[0].tag);
      }
  b.cfg.mps = 512;
}

TYPED_TEST(smfu_fault, nonsense_responses) {
  auto& b = this->b;
  const tlp t = this->load(TestFixture::window, 8, 3);
  const auto q = this->start(t);
  packet wrong = answer_to(q[0]);
  wrong.src = 3;
  b.push(b.rx_rsp, wrong);  // from another node
  wrong = answer_to(q[0]);
  wrong.tag ^= 0x40;
  b.push(b.rx_rsp, wrong);  // another round of the slot
  wrong = answer_to(q[0]);
  wrong.op = uint8_t(nic::op::quiet_rsp);
  b.push(b.rx_rsp, wrong);  // no one asked
  wrong = answer_to(q[0]);
  wrong.op = 0x77;
  b.push(b.rx_rsp, wrong);
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(b.ld_cpl.all.empty());
  EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_RSP], 3u);
  EXPECT_EQ(b.event_count[GGAS_EV_BAD_PACKET], 1u);
  b.clear_outputs();
  wrong = answer_to(q[0]);
  wrong.len_dw = 6;
  wrong.data.resize(6);
  b.push(b.rx_rsp, wrong);  // too short
  EXPECT_TRUE(b.settle());
  this->expect_ones(t);
  this->expect_event(GGAS_EV_BAD_PACKET, 2, uint64_t(nic::op::load_rsp));
}

TYPED_TEST(smfu_fault, link_death_ends_waiting_loads) {
  auto& b = this->b;
  this->start(this->load(TestFixture::window, 128, 1));
  b.host(this->load(TestFixture::window + TestFixture::span, 4, 2));  // ourselves
  for (unsigned i = 3; i < 20; ++i) b.host(this->load(TestFixture::window + 64 * i, 4, i));
  EXPECT_TRUE(b.settle());
  const auto sent = b.tx_np.all;
  b.clear_outputs();
  b.v.link_up_i = 0;
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.ld_cpl.all.size(), 19u) << "one of 18 loads takes two completions";
  for (const auto& c : b.ld_cpl.all) {
    EXPECT_EQ(c.t.data.at(0), ~0u);
    EXPECT_NE(c.t.tag, 2u);
  }
  EXPECT_EQ(b.event_count[GGAS_EV_LOAD_REMOTE_ERROR], 18u);
  EXPECT_EQ(b.events.at(0), (logged_event{GGAS_EV_LOAD_REMOTE_ERROR, 2, uint64_t(net_status::link_down)}));
  // Our own answer still comes; a new load to the peer does not go out.
  b.clear_outputs();
  for (const auto& s : sent)
    if (s.t.dst == 1) b.push(b.rx_rsp, answer_to(s.t));
  EXPECT_TRUE(b.settle());
  ASSERT_EQ(b.ld_cpl.all.size(), 1u);
  EXPECT_EQ(b.ld_cpl.all[0].t.tag, 2u);
  const tlp t = this->load(TestFixture::window, 4, 40);
  this->start(t);
  this->expect_ones(t);
  this->expect_event(GGAS_EV_LOAD_UNREACHABLE, 2, t.addr & 0xff'ffff'ffff);
}

TYPED_TEST(smfu_fault, link_death_in_the_middle_of_a_split) {
  auto& b = this->b;
  b.tx_np.percent = 0;
  b.host(this->load(TestFixture::window, 1024, 6));
  b.run(30);
  b.v.link_up_i = 0;
  b.run(100);
  b.tx_np.percent = 100;
  EXPECT_TRUE(b.settle());
  this->expect_ones(this->load(TestFixture::window, 1024, 6));
  EXPECT_LE(b.tx_np.all.size(), 1u) << "the rest is not sent";
}

// However many loads wait, they are over as soon as the first one is.
TYPED_TEST(smfu_fault, loads_time_out_behind_a_stuck_network) {
  auto& b = this->b;
  b.cfg.timeout_load = 2;
  b.tx_np.percent = 0;
  for (unsigned i = 0; i < 20; ++i) b.host(this->load(TestFixture::window, 200, i));
  b.host(this->store(TestFixture::window, 64));
  b.run(7000);
  ASSERT_EQ(b.ld_cpl.all.size(), 80u) << "four completions a load";
  EXPECT_EQ(b.event_count[GGAS_EV_LOAD_TIMEOUT], 1u);
  EXPECT_EQ(b.event_count[GGAS_EV_LOAD_UNREACHABLE], 19u);
  for (const auto& c : b.ld_cpl.all) EXPECT_EQ(c.t.data.at(0), ~0u);
  EXPECT_EQ(b.tx_p.all.size(), 1u) << "stores pass";
  b.tx_np.percent = 100;
  b.cfg.timeout_load = 1000;
}

}  // namespace
}  // namespace ggas::test::smfu
