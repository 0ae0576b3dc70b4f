// SPDX-License-Identifier: Apache-2.0
// Reads at the target that the host takes late, or that fail more than once; answers that wait while more goes wrong.
#include <set>

#include "tests/rtl/smfu/fault_suite.hpp"

namespace ggas::test::smfu {
namespace {

// The tag of a read that was given up before the host took it is no other one's until the host has answered it.
TYPED_TEST(smfu_fault, tag_of_a_read_that_the_host_takes_late) {
  auto& b = this->b;
  b.cfg.timeout_host = 4;
  b.v.tgt_np_ok_i = 0;
  packet p = net_packet(nic::op::load, 2, 0x200, 16);
  p.tag = 0x4242;
  b.push(b.rx_np, p);
  while (b.tx_rsp.all.empty() && b.now < 20'000) b.step();
  this->expect_response(net_status::timeout);
  b.run(12 * 1024);
  // All other slots are used once, by loads that are refused.
  for (unsigned i = 0; i < 63; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, home_size + 4096, 1));
  packet next = net_packet(nic::op::load, 2, 0x400, 16);
  next.tag = 0x1111;
  b.push(b.rx_np, next);
  b.run(1000);
  b.clear_outputs();
  b.v.tgt_np_ok_i = 1;
  b.run(3 * 1024 - 100);  // longer than a tick, shorter than the time-out
  ASSERT_EQ(b.tgt_req.all.size(), 1u) << "a tag for two reads";
  const tlp late = b.tgt_req.all[0].t;
  EXPECT_EQ(late.addr, home_base + 0x200);
  b.push(b.tgt_cpl, this->completion(late, 16));
  b.run(1000);
  EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_CPL], 1u);
  ASSERT_EQ(b.tgt_req.all.size(), 2u);
  b.push(b.tgt_cpl, this->completion(b.tgt_req.all[1].t, 16));
  ASSERT_TRUE(b.settle());
  ASSERT_EQ(b.tx_rsp.all.size(), 1u);
  EXPECT_EQ(b.tx_rsp.all[0].t.tag, next.tag);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(b.tx_rsp.all[0].t.data[i], content(0, home_base + 0x400 + 4 * i));
  b.cfg.timeout_host = 1000;
}

// The rest of a tag is not extended in a tick if another read is made in that very cycle: no harm, as long as the host
// has not taken the read with the tag.
TYPED_TEST(smfu_fault, tag_rests_though_a_tick_did_not_count) {
  auto& b = this->b;
  b.cfg.timeout_host = 2;
  for (unsigned early = 2; early < 10; ++early) {
    b.clear_outputs();
    b.v.tgt_np_ok_i = 0;
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x200, 16));
    const uint64_t given_up = this->wait_for_answer();
    this->run_until(given_up + 1024 - early);
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x400, 16));
    this->run_until(given_up + 2 * 1024 + 100);
    // All other slots are used once, by loads that are refused; the next load has the tag again.
    for (unsigned i = 0; i < 62; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, home_size + 4096, 1));
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x600, 16));
    b.run(600);
    b.v.tgt_np_ok_i = 1;
    b.run(20);
    ASSERT_EQ(b.tgt_req.all.size(), 2u) << "a tag for two reads, " << early;
    memory host(b);
    for (unsigned i = 0; i < 200; ++i) host.step(), b.step();
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.tx_rsp.all.size(), 65u);
    EXPECT_EQ(b.tx_rsp.all.back().t.data.at(0), content(0, home_base + 0x600));
  }
  b.cfg.timeout_host = 1000;
}

// A tag rests for its whole time-out, though another read is made in the cycle in which its own is given up.
TYPED_TEST(smfu_fault, tag_rests_though_a_read_is_made_as_it_is_given_up) {
  auto& b = this->b;
  b.cfg.timeout_host = 2;
  const auto begin = [&] {  // at the same place between two ticks; the cycle
    this->run_until((b.now / 1024 + 1) * 1024 + 100);
    b.clear_outputs();
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x200, 16));
    return b.now;
  };
  const uint64_t from = begin(), takes = this->wait_for_answer() - from;
  b.run(4 * 1024);
  bool before = false, after = false;  // the other read was made before the answer, or after it
  for (unsigned early = 0; early < 20; ++early) {
    const uint64_t given_up = begin() + takes + early;  // the walk meets the next slot a cycle later
    this->run_until(given_up - early);
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x400, 16));
    this->run_until(given_up + 500);
    ASSERT_EQ(b.tgt_req.all.size(), 2u);
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    (b.tgt_req.all[1].first < b.tx_rsp.all[0].first ? before : after) = true;
    b.push(b.tgt_cpl, this->completion(b.tgt_req.all[1].t, 16));
    this->run_until(given_up + 1024 + 100);  // a tick further
    // All other slots are used once, by loads that are refused; the next load has the tag again.
    for (unsigned i = 0; i < 62; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, home_size + 4096, 1));
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x600, 16));
    b.run(600);
    ASSERT_EQ(b.tgt_req.all.size(), 2u) << "a tag for two reads, " << early;
    b.push(b.tgt_cpl, this->completion(b.tgt_req.all[0].t, 16));
    b.run(100);
    EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_CPL], 1u);
    ASSERT_EQ(b.tgt_req.all.size(), 3u);
    EXPECT_EQ(b.tgt_req.all[2].t.tag, b.tgt_req.all[0].t.tag);
    b.push(b.tgt_cpl, this->completion(b.tgt_req.all[2].t, 16));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.tx_rsp.all.size(), 65u);
    EXPECT_EQ(b.tx_rsp.all.back().t.data.at(0), content(0, home_base + 0x600));
  }
  EXPECT_TRUE(before && after) << "the cycle of the time-out is not among those tried";
  b.cfg.timeout_host = 1000;
}

// A tag is released in the cycle in which its completion comes after all, or in one near it.
TYPED_TEST(smfu_fault, completion_comes_as_its_tag_is_released) {
  auto& b = this->b;
  b.cfg.timeout_host = 2;
  bool before = false, after = false;  // the tag's rest was not over yet, or was
  for (unsigned early = 0; early < 8; ++early) {
    const auto r = this->start_target();
    this->run_until(this->wait_for_answer() + 2 * 1024 - early);
    (b.v.timer_o ? before : after) = true;
    b.push(b.tgt_cpl, this->completion(r.at(0), 16));
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_CPL], 1u) << early;
    EXPECT_FALSE(b.v.timer_o) << "a read that is none, " << early;
  }
  EXPECT_TRUE(before && after) << "the cycle of the release is not among those tried";
  b.cfg.timeout_host = 1000;
}

// Both reads of a load that was given up are answered after all, in either order: its slot serves again.
TYPED_TEST(smfu_fault, both_parts_come_late) {
  auto& b = this->b;
  for (const bool in_order : {true, false}) {
    b.cfg.mrrs = 128;
    b.cfg.timeout_host = 2;
    const auto r = this->start_target(64, 0x300);
    ASSERT_EQ(r.size(), 2u);
    this->wait_for_answer();
    this->expect_response(net_status::timeout);
    b.cfg.mrrs = 512;
    b.cfg.timeout_host = 1000;
    for (const bool first : {in_order, !in_order}) b.push(b.tgt_cpl, this->completion(r[first ? 0 : 1], 32));
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.event_count[GGAS_EV_UNEXPECTED_CPL], 2u);
    b.clear_outputs();
    memory host(b);
    host.percent = 100;
    for (unsigned i = 0; i < 64; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, 0x1000, 4));
    for (unsigned i = 0; i < 800; ++i) host.step(), b.step();
    EXPECT_EQ(b.tx_rsp.all.size(), 64u);
  }
}

// A load of two reads, of which both fail in one way or another, at once or not: one event, one answer.
TYPED_TEST(smfu_fault, both_parts_fail) {
  auto& b = this->b;
  b.cfg.mrrs = 128;
  b.cfg.timeout_host = 2;
  for (unsigned gap : {0u, 1u, 2u, 3u, 10u})
    for (unsigned how = 0; how < 4; ++how) {
      const auto r = this->start_target(64, 0x300);
      ASSERT_EQ(r.size(), 2u);
      for (unsigned i = 0; i < 2; ++i) {
        tlp c = this->completion(r[i], how & (i + 1) ? 32 : 0, cpl_status::ur);
        c.status = c.has_data() ? cpl_status::sc : cpl_status::ur;
        c.poisoned = c.has_data();
        b.push(b.tgt_cpl, c);
        b.run(gap);
      }
      EXPECT_TRUE(b.settle());
      this->expect_response(net_status::host_error);
      EXPECT_EQ(b.event_count[GGAS_EV_TARGET_HOST_ERROR], 1u) << "gap " << gap << " how " << how;
      EXPECT_EQ(b.events.size(), 1u);
    }
  // One fails, the other one does not come.
  const auto r = this->start_target(64, 0x300);
  ASSERT_EQ(r.size(), 2u);
  b.push(b.tgt_cpl, this->completion(r[1], 0, cpl_status::ur));
  b.run(5 * 1024);
  this->expect_response(net_status::host_error);
  EXPECT_EQ(b.event_count[GGAS_EV_TARGET_TIMEOUT], 0u) << "reported already";
  b.push(b.tgt_cpl, this->completion(r[0], 32));
  b.run(5 * 1024);
  b.cfg.mrrs = 512;
  b.cfg.timeout_host = 1000;
}

// An answer that waits for the host stays what it was, whatever else goes wrong meanwhile; the rest is the next one's.
TYPED_TEST(smfu_fault, quiet_answer_stays_as_it_is) {
  auto& b = this->b;
  b.ld_cpl.percent = 0;
  b.host(this->load(0x1000, 4, 40));  // its completion is in front
  b.run(100);
  b.host(this->store(TestFixture::window + 2 * TestFixture::span, 4));  // no such node
  b.host(quiet_read(9));
  b.run(300);
  b.v.link_up_i = 0;
  b.host(this->store(TestFixture::window, 4));
  b.run(300);
  b.ld_cpl.percent = 30;
  ASSERT_TRUE(b.settle());
  b.host(quiet_read(10));
  ASSERT_TRUE(b.settle());
  std::map<unsigned, uint32_t> code;
  for (const auto& c : b.ld_cpl.all)
    if (c.t.tag < 40) code[c.t.tag] = c.t.data[0];
  EXPECT_EQ(code, (std::map<unsigned, uint32_t>{{9, uint32_t(net_status::unreachable)},
                                                {10, uint32_t(net_status::link_down)}}));
  b.ld_cpl.percent = 100;
}

}  // namespace
}  // namespace ggas::test::smfu
