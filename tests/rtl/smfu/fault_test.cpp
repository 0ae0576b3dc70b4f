// SPDX-License-Identifier: Apache-2.0
// What goes wrong, and the defined result of each: event, counter, error completion. Nothing hangs, and the next access
// works.
#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

using nic::net_status;
using pcie::cpl_status;

template <class T>
class smfu_fault : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  // Every fault must leave the unit as good as before.
  void TearDown() override {
    b.v.link_up_i = 1;
    b.v.cfg_ingress_i = 1;
    b.v.cfg_mps_i = 256;
    b.v.cfg_tsize_i = 1 << 20;
    ASSERT_TRUE(b.settle());
    b.run(200);
    b.clear_outputs();
    const tlp t = this->load(base::window + 0x40, 16, 77);
    b.host(t);
    b.push(b.rx_np, net_packet(nic::op::load, 2, 0x100, 8));
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.tx_np.all.size(), 1u);
    b.push(b.rx_rsp, answer_to(b.tx_np.all[0].t));
    memory host(b);
    for (int i = 0; i < 200; ++i) host.step(), b.step();
    ASSERT_TRUE(b.settle());
    ASSERT_EQ(b.ld_cpl.all.size(), 1u);
    EXPECT_EQ(b.ld_cpl.all[0].t.kind, tlp_kind::cpld);
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    EXPECT_EQ(b.tx_rsp.all[0].t.data.size(), 8u);
    EXPECT_TRUE(b.events.empty());
    EXPECT_FALSE(b.v.timer_o);
  }
  // Puts a load on the network and returns its packets.
  std::vector<packet> start(const tlp& t) {
    b.clear_outputs();
    b.host(t);
    EXPECT_TRUE(b.settle());
    std::vector<packet> out;
    for (const auto& s : b.tx_np.all) out.push_back(s.t);
    return out;
  }
  // One remote load at the target; its reads.
  std::vector<tlp> start_target(unsigned dw = 16, uint64_t addr = 0x200) {
    b.clear_outputs();
    packet p = net_packet(nic::op::load, 2, addr, dw);
    p.tag = 0x4242;
    b.push(b.rx_np, p);
    EXPECT_TRUE(b.settle());
    std::vector<tlp> out;
    for (const auto& s : b.tgt_req.all) out.push_back(s.t);
    return out;
  }
  tlp completion(const tlp& read, unsigned dw, cpl_status status = cpl_status::sc) {
    tlp c;
    c.kind = dw ? tlp_kind::cpld : tlp_kind::cpl;
    c.status = status;
    c.tag = read.tag;
    c.len_dw = uint16_t(dw);
    for (unsigned i = 0; i < dw; ++i) c.data.push_back(content(0, read.addr + 4 * i));
    return c;
  }
  void expect_response(net_status status) {
    ASSERT_EQ(b.tx_rsp.all.size(), 1u);
    EXPECT_EQ(b.tx_rsp.all[0].t.status, uint8_t(status));
    EXPECT_EQ(b.tx_rsp.all[0].t.tag, 0x4242u);
    EXPECT_EQ(b.tx_rsp.all[0].t.dst, 2u);
    EXPECT_EQ(b.tx_rsp.all[0].t.len_dw, 0u);
  }
};
TYPED_TEST_SUITE(smfu_fault, widths);

// ---------------------------------------------------------------- host side

TYPED_TEST(smfu_fault, unmapped_store) {
  this->b.host(this->store(0x1000, 40));
  EXPECT_TRUE(this->b.settle());
  EXPECT_TRUE(this->b.tx_p.all.empty());
  this->expect_event(GGAS_EV_STORE_UNMAPPED, 0, 0x1000);
}

TYPED_TEST(smfu_fault, unmapped_load) {
  const tlp t = this->load(0x1004, 3, 9, 0xc, 0x3);
  this->start(t);
  this->expect_error(t, cpl_status::ur);
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
  this->expect_error(t, cpl_status::ur);
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
  b.v.cfg_timeout_load_i = 2;
  const tlp t = this->load(TestFixture::window + 0x80, 128, 3);  // three chunks
  const auto q = this->start(t);
  ASSERT_EQ(q.size(), 3u);
  EXPECT_TRUE(b.v.timer_o);
  const uint64_t begin = b.now;
  while (b.ld_cpl.all.empty() && b.now < begin + 5000) b.step();
  EXPECT_TRUE(b.settle());
  EXPECT_GE(b.now, begin + 1024);
  this->expect_error(t, cpl_status::ca);
  this->expect_event(GGAS_EV_LOAD_TIMEOUT, 2, q[0].tag);
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
  b.v.cfg_timeout_load_i = 2;
  b.host(this->load(TestFixture::window, 16, 1));
  b.host(this->load(TestFixture::window, 16, 2));
  EXPECT_TRUE(b.settle());
  b.push(b.rx_rsp, answer_to(b.tx_np.all.at(0).t));
  b.run(4000);
  ASSERT_EQ(b.ld_cpl.all.size(), 2u);
  EXPECT_EQ(b.ld_cpl.all[1].t.tag, 2u);
  EXPECT_EQ(b.ld_cpl.all[1].t.kind, tlp_kind::cpl);
  EXPECT_EQ(b.ld_cpl.all[1].t.status, cpl_status::ca);
  b.v.cfg_timeout_load_i = 1000;
}

// A late answer must not end up in the load that has the slot now.
TYPED_TEST(smfu_fault, late_answer_meets_a_reused_slot) {
  auto& b = this->b;
  b.v.cfg_timeout_load_i = 2;
  const auto old = this->start(this->load(TestFixture::window, 1, 0));
  b.run(5000);
  EXPECT_EQ(b.event_count[GGAS_EV_LOAD_TIMEOUT], 1u);
  b.v.cfg_timeout_load_i = 1000;
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
    ASSERT_EQ(b.ld_cpl.all.size(), failing + 1);
    const tlp& last = b.ld_cpl.all.back().t;
    EXPECT_EQ(last.status, cpl_status::ca);
    EXPECT_EQ(last.byte_count, 1024 - 256 * failing);
    this->expect_event(GGAS_EV_LOAD_REMOTE_ERROR, 2, uint64_t(net_status::host_error));
  }
}

TYPED_TEST(smfu_fault, remote_error_and_the_rest_never_comes) {
  auto& b = this->b;
  b.v.cfg_timeout_load_i = 2;
  const tlp t = this->load(TestFixture::window, 128, 3);
  const auto q = this->start(t);
  b.push(b.rx_rsp, answer_to(q[0], net_status::timeout));
  b.run(6000);
  EXPECT_FALSE(b.v.timer_o);
  this->expect_error(t, cpl_status::ca);
  this->expect_event(GGAS_EV_LOAD_REMOTE_ERROR, 2, uint64_t(net_status::timeout));
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
  b.push(b.rx_rsp, wrong);  // nobody asked
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
  this->expect_error(t, cpl_status::ca);
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
  EXPECT_EQ(b.ld_cpl.all.size(), 18u);
  for (const auto& c : b.ld_cpl.all) {
    EXPECT_EQ(c.t.status, cpl_status::ca);
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
  this->expect_error(t, cpl_status::ur);
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
  ASSERT_EQ(b.ld_cpl.all.size(), 1u);
  EXPECT_EQ(b.ld_cpl.all[0].t.status, cpl_status::ca);
  EXPECT_LE(b.tx_np.all.size(), 1u) << "the rest is not sent";
}

TYPED_TEST(smfu_fault, loads_time_out_behind_a_stuck_network) {
  auto& b = this->b;
  b.v.cfg_timeout_load_i = 2;
  b.tx_np.percent = 0;
  for (unsigned i = 0; i < 3; ++i) b.host(this->load(TestFixture::window, 200, i));
  b.host(this->store(TestFixture::window, 64));
  b.run(12000);
  EXPECT_EQ(b.ld_cpl.all.size(), 3u);
  EXPECT_EQ(b.event_count[GGAS_EV_LOAD_TIMEOUT], 3u);
  EXPECT_EQ(b.tx_p.all.size(), 1u) << "stores pass";
  b.tx_np.percent = 100;
  b.v.cfg_timeout_load_i = 1000;
}

// ---------------------------------------------------------------- target side

TYPED_TEST(smfu_fault, target_range_of_stores) {
  auto& b = this->b;
  const uint64_t size = 1 << 20;
  struct {
    uint64_t addr;
    unsigned dw;
    bool good;
  } cases[] = {{size - 4, 1, true},     {size - 4, 2, false},     {size, 1, false}, {size - 256, 64, true},
               {size - 252, 64, false}, {~uint64_t{3}, 1, false}, {0, 64, true},    {0 - uint64_t{256}, 64, false}};
  for (auto [addr, dw, good] : cases) {
    b.clear_outputs();
    packet p = net_packet(nic::op::store, 2, addr, dw);
    p.data.resize(dw);
    b.push(b.rx_p, p);
    EXPECT_TRUE(b.settle());
    EXPECT_EQ(b.tgt_req.all.size(), good ? 1u : 0u) << std::hex << addr;
    if (!good && (addr & 0xfff) + 4 * dw <= 4096) this->expect_event(GGAS_EV_TARGET_RANGE, 2, addr & 0xff'ffff'ffff);
    EXPECT_EQ(b.events.empty(), good);
  }
  for (auto [ingress, tsize] : {std::pair<int, uint64_t>{0, size}, {1, 0}}) {
    b.v.cfg_ingress_i = ingress;
    b.v.cfg_tsize_i = tsize;
    b.clear_outputs();
    packet p = net_packet(nic::op::store, 2, 0, 1);
    p.data.resize(1);
    b.push(b.rx_p, p);
    EXPECT_TRUE(b.settle());
    EXPECT_TRUE(b.tgt_req.all.empty());
    this->expect_event(GGAS_EV_TARGET_RANGE, 2, 0);
  }
}

TYPED_TEST(smfu_fault, target_range_of_loads) {
  this->b.v.cfg_tsize_i = (1 << 20) - 4;
  this->start_target(16, (1 << 20) - 64);
  this->expect_response(net_status::range);
  this->expect_event(GGAS_EV_TARGET_RANGE, 2, (1 << 20) - 64);
  EXPECT_TRUE(this->b.tgt_req.all.empty());
  this->b.v.cfg_ingress_i = 0;
  this->start_target(1, 0);
  this->expect_response(net_status::range);
}

TYPED_TEST(smfu_fault, bad_packets) {
  auto& b = this->b;
  auto store = [](uint64_t addr, unsigned dw) {
    packet p = net_packet(nic::op::store, 2, addr, dw);
    p.data.resize(dw);
    return p;
  };
  std::vector<packet> bad{store(2, 1), store(0xff8, 3), store(0, 80), store(0, 0),
                          store(0, 1), store(0, 2),     store(0, 2)};
  bad[4].op = 0x55;
  bad[5].first_be = 0;
  bad[6].last_be = 0;
  for (const packet& p : bad) {
    b.clear_outputs();
    b.push(b.rx_p, p);
    EXPECT_TRUE(b.settle());
    EXPECT_TRUE(b.tgt_req.all.empty());
    this->expect_event(GGAS_EV_BAD_PACKET, 2, p.op);
  }
  std::vector<packet> loads{net_packet(nic::op::load, 2, 0x80, 33), net_packet(nic::op::load, 2, 0, 0),
                            net_packet(nic::op::load, 2, 0, 65), net_packet(nic::op::load, 2, 1, 1),
                            net_packet(nic::op::load, 2, 0, 2)};
  loads[0].addr = 0x84;
  loads[0].req_dw = 64;
  loads[4].last_be = 0;
  for (packet& p : loads) {
    b.clear_outputs();
    p.tag = 0x4242;
    b.push(b.rx_np, p);
    EXPECT_TRUE(b.settle());
    this->expect_response(net_status::range);
    this->expect_event(GGAS_EV_BAD_PACKET, 2, p.op);
  }
  packet p = net_packet(nic::op::load, 2, 0, 1);
  p.op = 0x66;
  b.clear_outputs();
  b.push(b.rx_np, p);
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(b.tx_rsp.all.empty()) << "nobody waits for it";
  this->expect_event(GGAS_EV_BAD_PACKET, 2, 0x66);
}

TYPED_TEST(smfu_fault, host_errors) {
  auto& b = this->b;
  for (cpl_status s : {cpl_status::ur, cpl_status::ca}) {
    const auto r = this->start_target();
    ASSERT_EQ(r.size(), 1u);
    b.push(b.tgt_cpl, this->completion(r[0], 0, s));
    EXPECT_TRUE(b.settle());
    this->expect_response(net_status::host_error);
    this->expect_event(GGAS_EV_TARGET_HOST_ERROR, 2, uint64_t(s));
  }
  const auto r = this->start_target();
  tlp c = this->completion(r[0], 16);
  c.poisoned = true;
  b.push(b.tgt_cpl, c);
  EXPECT_TRUE(b.settle());
  this->expect_response(net_status::host_error);
  this->expect_event(GGAS_EV_TARGET_HOST_ERROR, 2, 0);
  EXPECT_EQ(b.counters["target_loads"], 0u);
}

TYPED_TEST(smfu_fault, error_in_one_part_of_two) {
  auto& b = this->b;
  b.v.cfg_mrrs_i = 128;
  const auto r = this->start_target(64, 0x300);
  ASSERT_EQ(r.size(), 2u);
  b.push(b.tgt_cpl, this->completion(r[1], 0, cpl_status::ur));
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(b.tx_rsp.all.empty()) << "the other read is still out";
  b.push(b.tgt_cpl, this->completion(r[0], 32));
  EXPECT_TRUE(b.settle());
  this->expect_response(net_status::host_error);
  b.v.cfg_mrrs_i = 512;
}

TYPED_TEST(smfu_fault, strange_completions) {
  auto& b = this->b;
  const auto r = this->start_target();
  tlp c = this->completion(r[0], 4);
  c.tag ^= 2;
  b.push(b.tgt_cpl, c);
  EXPECT_TRUE(b.settle());
  this->expect_event(GGAS_EV_UNEXPECTED_CPL, 0, c.tag);
  EXPECT_TRUE(b.tx_rsp.all.empty());
  b.clear_outputs();
  b.push(b.tgt_cpl, this->completion(r[0], 17));  // more than asked
  EXPECT_TRUE(b.settle());
  this->expect_event(GGAS_EV_UNEXPECTED_CPL, 0, r[0].tag);
  this->expect_response(net_status::host_error);
  b.clear_outputs();
  b.push(b.tgt_cpl, this->completion(r[0], 16));
  EXPECT_TRUE(b.settle());
  this->expect_event(GGAS_EV_UNEXPECTED_CPL, 0, r[0].tag);
}

TYPED_TEST(smfu_fault, host_time_out_and_late_completion) {
  auto& b = this->b;
  b.v.cfg_timeout_host_i = 2;
  const auto r = this->start_target();
  b.run(2500);
  this->expect_response(net_status::timeout);
  this->expect_event(GGAS_EV_TARGET_TIMEOUT, 2, 0x4242);
  b.clear_outputs();
  b.push(b.tgt_cpl, this->completion(r[0], 16));
  EXPECT_TRUE(b.settle());
  this->expect_event(GGAS_EV_UNEXPECTED_CPL, 0, r[0].tag);
  EXPECT_TRUE(b.tx_rsp.all.empty());
  EXPECT_FALSE(b.v.timer_o) << "the tag is free again";
}

TYPED_TEST(smfu_fault, host_time_out_and_no_completion) {
  auto& b = this->b;
  b.v.cfg_timeout_host_i = 2;
  this->start_target();
  b.run(8000);
  this->expect_response(net_status::timeout);
  EXPECT_FALSE(b.v.timer_o) << "the tag is free again";
}

// A slot whose tag may still be answered is not used again.
TYPED_TEST(smfu_fault, a_timed_out_tag_rests) {
  auto& b = this->b;
  b.v.cfg_timeout_host_i = 2;
  const auto old = this->start_target();
  while (b.tx_rsp.all.empty()) b.step();
  b.v.cfg_timeout_host_i = 1000;
  b.clear_outputs();
  memory host(b);
  host.percent = 100;
  for (unsigned i = 0; i < 70; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, 0x1000, 4));
  for (unsigned i = 0; i < 800; ++i) host.step(), b.step();
  EXPECT_EQ(b.tx_rsp.all.size(), 63u);
  b.push(b.tgt_cpl, this->completion(old[0], 16));
  for (unsigned i = 0; i < 400; ++i) host.step(), b.step();
  EXPECT_EQ(b.tx_rsp.all.size(), 70u);
  for (const auto& s : b.tx_rsp.all) EXPECT_EQ(s.t.data.at(0), content(0, b.v.cfg_tbase_i + 0x1000));
  this->expect_event(GGAS_EV_UNEXPECTED_CPL, 0, old[0].tag);
}

// Reads the host does not take hold up no write.
TYPED_TEST(smfu_fault, stores_pass_reads_that_the_host_refuses) {
  auto& b = this->b;
  b.v.tgt_np_ok_i = 0;
  for (unsigned i = 0; i < 5; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, 0x100, 4));
  for (unsigned i = 0; i < 20; ++i) {
    packet p = net_packet(nic::op::store, 2, 0, 64);
    p.data.resize(64);
    b.push(b.rx_p, p);
  }
  b.run(2000);
  EXPECT_EQ(b.tgt_req.all.size(), 20u);
  for (const auto& s : b.tgt_req.all) EXPECT_EQ(s.t.kind, tlp_kind::mwr);
  b.v.tgt_np_ok_i = 1;
  memory host(b);
  for (unsigned i = 0; i < 500; ++i) host.step(), b.step();
  EXPECT_EQ(b.tx_rsp.all.size(), 5u);
}

}  // namespace
}  // namespace ggas::test::smfu
