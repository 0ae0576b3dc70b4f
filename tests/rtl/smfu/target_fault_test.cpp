// SPDX-License-Identifier: Apache-2.0
// Faults on the side of the target of stores and loads.
#include "tests/rtl/smfu/fault_suite.hpp"

namespace ggas::test::smfu {
namespace {

// The information about a refused packet: export and offset.
constexpr uint64_t info(uint64_t addr) { return uint64_t{home_export} << 32 | uint32_t(addr); }

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
    if (!good && (addr & 0xfff) + 4 * dw <= 4096) this->expect_event(GGAS_EV_TARGET_RANGE, 2, info(addr));
    EXPECT_EQ(b.events.empty(), good);
  }
  for (auto [ingress, exported] : {std::pair<int, uint64_t>{0, size}, {1, 0}}) {
    b.cfg.ingress = ingress;
    b.give_out(home_export, home_base, exported, home_domain);
    b.clear_outputs();
    packet p = net_packet(nic::op::store, 2, 0, 1);
    p.data.resize(1);
    b.push(b.rx_p, p);
    EXPECT_TRUE(b.settle());
    EXPECT_TRUE(b.tgt_req.all.empty());
    this->expect_event(GGAS_EV_TARGET_RANGE, 2, info(0));
  }
}

TYPED_TEST(smfu_fault, target_range_of_loads) {
  this->start_target(16, home_size);
  this->expect_response(net_status::range);
  this->expect_event(GGAS_EV_TARGET_RANGE, 2, info(home_size));
  EXPECT_TRUE(this->b.tgt_req.all.empty());
  this->b.cfg.ingress = 0;
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
  std::vector<packet> bad{store(2, 1), store(0xff8, 3), store(0, TypeParam::mtu / 4 + 16), store(0, 0), store(0, 1),
                          store(0, 2), store(0, 2)};
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
  b.cfg.mrrs = 128;
  const auto r = this->start_target(64, 0x300);
  ASSERT_EQ(r.size(), 2u);
  b.push(b.tgt_cpl, this->completion(r[1], 0, cpl_status::ur));
  EXPECT_TRUE(b.settle());
  EXPECT_TRUE(b.tx_rsp.all.empty()) << "the other read is still out";
  b.push(b.tgt_cpl, this->completion(r[0], 32));
  EXPECT_TRUE(b.settle());
  this->expect_response(net_status::host_error);
  b.cfg.mrrs = 512;
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
  b.cfg.timeout_host = 2;
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
  b.cfg.timeout_host = 2;
  this->start_target();
  b.run(8000);
  this->expect_response(net_status::timeout);
  EXPECT_FALSE(b.v.timer_o) << "the tag is free again";
}

// A request that waits for the oldest slot of a full ring does not keep that slot from running out of time.
TYPED_TEST(smfu_fault, full_ring_runs_out_of_time) {
  auto& b = this->b;
  b.cfg.timeout_host = 2;
  for (unsigned i = 0; i < 65; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, 0x1000, 4));
  b.run(12000);
  EXPECT_EQ(b.tgt_req.all.size(), 65u);
  ASSERT_EQ(b.tx_rsp.all.size(), 65u);
  for (const auto& s : b.tx_rsp.all) EXPECT_EQ(s.t.status, uint8_t(net_status::timeout));
  EXPECT_FALSE(b.v.timer_o);
}

// A slot whose tag may still be answered is not used again.
TYPED_TEST(smfu_fault, a_timed_out_tag_rests) {
  auto& b = this->b;
  b.cfg.timeout_host = 2;
  const auto old = this->start_target();
  while (b.tx_rsp.all.empty()) b.step();
  b.cfg.timeout_host = 1000;
  b.clear_outputs();
  memory host(b);
  host.percent = 100;
  for (unsigned i = 0; i < 70; ++i) b.push(b.rx_np, net_packet(nic::op::load, 2, 0x1000, 4));
  for (unsigned i = 0; i < 800; ++i) host.step(), b.step();
  EXPECT_EQ(b.tx_rsp.all.size(), 63u);
  b.push(b.tgt_cpl, this->completion(old[0], 16));
  for (unsigned i = 0; i < 400; ++i) host.step(), b.step();
  EXPECT_EQ(b.tx_rsp.all.size(), 70u);
  for (const auto& s : b.tx_rsp.all) EXPECT_EQ(s.t.data.at(0), content(0, home_base + 0x1000));
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
