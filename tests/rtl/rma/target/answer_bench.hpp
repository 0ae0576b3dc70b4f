// SPDX-License-Identifier: Apache-2.0
// rma_answer with its environment in C++. send() computes the expected result of the response; the outputs are compared
// with it, item by item.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/rma/answer_pins.hpp"
#include "tests/rtl/rma/unit/host.hpp"
#include "tests/rtl/rma/unit/puts.hpp"

namespace ggas::test::rma {

enum event_kind : uint8_t { bad_packet, protection, unexpected };
struct event {
  event_kind kind;
  uint16_t node;
  uint64_t info;
  auto operator<=>(const event&) const = default;
};
struct answer {
  uint8_t op = 0, vpid = 0, epoch = 0, status = 0, dvpid = 0;
  uint16_t node = 0;
  uint64_t addr = 0;
  bool asked = true;
  auto operator<=>(const answer&) const = default;
};
constexpr uint64_t forbidden = 0x100000;  // the first page that is not granted

template <class V, unsigned W>
class answer_bench {
 public:
  static constexpr unsigned width = W, nodes = W == 256 ? 1024 : 64;
  V v;
  dice d{seed()};
  feed<packet, W> rx;
  drain<tlp, W> wr{"wr"};
  memory mem;
  translator tr;
  std::vector<event> events, expected_events;
  uint64_t now = 0, get_packets = 0, expected_packets = 0;
  unsigned answer_percent = 100;
  bool gate = true;
  std::function<void(const tlp&)> on_write;  // if set, nothing is compared: what comes out depends on time
  struct context {
    bool on = false;
    uint8_t gave_up = 0, starts = 0;  // 5 bits
    uint16_t pd = 0;
    uint8_t epoch() const { return (gave_up + starts) % 32; }
  };
  // A get by the node that serves it and its place there.
  struct get {
    bool refused = false;
    uint8_t vpid = 0, epoch = 0;
  };
  std::map<std::pair<unsigned, unsigned>, get> gets;
  std::array<context, 256> contexts{};

  answer_bench() {
    tr.granted = [](uint64_t nla, uint16_t pd, bool write) {
      return write && nla < forbidden && pd == domain(uint8_t(nla >> 16));
    };
    v.cfg_mps_i = 256;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
  }
  ~answer_bench() { end_model(v); }
  static uint64_t bus(uint64_t nla) { return translator::bus(nla); }
  // A context reaches the NLAs from 64 KB times its area on.
  static uint16_t area(uint8_t vpid) { return vpid % 16; }
  static uint16_t domain(uint8_t vpid) { return uint16_t(0x1357 * (area(vpid) + 1)); }

  // Switched off, a context keeps its owner.
  void start(uint8_t vpid, bool on = true) { start(vpid, on, domain(vpid)); }
  void start(uint8_t vpid, bool on, uint16_t pd) {
    context& c = contexts[vpid];
    c.on = on;
    if (on) c.starts = (c.starts + 1) % 32, c.pd = pd;
    pins::write_context(
        v.context_i, vpid, 0,
        on ? 1 | uint64_t{pd} << 32 | uint64_t{c.starts} << 48 | 0xffe0'0000'0000'0000ull : d.bits() & ~1ull);
    step();
    pins::end_write(v.context_i);
  }
  void give_up(uint8_t vpid) {
    context& c = contexts[vpid];
    c.gave_up = (c.gave_up + 1) % 32;
    v.ep_valid_i = 1, v.ep_vpid_i = vpid, v.ep_epoch_i = c.gave_up;
    step();
    v.ep_valid_i = 0;
  }
  packet make(op o, uint8_t vpid, net_status s = net_status::ok) {
    const bool strange = o == op::rma_get_data && d.chance(3);  // data of a node that the NIC may not know
    packet p{.vc = uint8_t(nic::vc::rsp), .op = uint8_t(o), .status = uint8_t(s)};
    p.src = uint16_t(d.below(strange ? 0x10000 : nodes));
    p.set_initiator(vpid, uint8_t(contexts[vpid].epoch() << 3 | d.below(8)));
    p.vpid = uint8_t(d.bits());
    p.set_pd(contexts[vpid].pd);
    p.set_place(unsigned(d.below(16)));
    p.addr = d.bits();
    p.set_flags(d.chance(50) ? nic::rma_wants_ack : 0);
    return p;
  }
  packet data(uint8_t vpid, uint64_t nla, unsigned bytes) {
    packet p = make(op::rma_get_data, vpid);
    p.addr = nla;
    fill(d, p, bytes);
    return p;
  }
  packet result(uint8_t vpid, uint64_t nla, net_status s = net_status::ok) {
    packet p = make(op::rma_atomic_rsp, vpid, s);
    p.addr = nla;
    p.set_flags(nic::rma_result);
    for (unsigned i = 0; i < 4; ++i) p.data.push_back(uint32_t(d.bits()));
    p.len_dw = 4;
    return p;
  }

  // One packet of a get, which is known by node, place and what its epoch says of it.
  packet of(packet p, uint16_t node, unsigned place, unsigned what, unsigned flags = 0) {
    p.src = node;
    p.set_place(place);
    p.set_initiator(p.svpid(), uint8_t((p.epoch() & ~7u) | what));
    p.set_flags(flags);
    return p;
  }
  bool writes(uint8_t vpid) {
    v.look_vpid_i = vpid;
    v.eval();
    return v.look_writes_o;
  }

  void send(const packet& p) {
    rx.push(p);
    if (on_write) return;
    context& c = contexts[p.svpid()];
    const bool known = c.epoch() == p.epoch() >> 3 && c.pd == p.pd(), live = c.on && known;
    const bool record = p.is(op::rma_atomic_rsp) && p.status == 0 && p.flags() & nic::rma_result;
    const bool stores = p.is(op::rma_get_data) || record;
    const bool granted = p.addr < forbidden && p.addr >> 16 == area(p.svpid());
    uint8_t status = p.status;
    if (!sane(p, record)) {
      expected_events.push_back({bad_packet, p.src, p.op});
    } else if (stores ? !live : !known) {
      expected_events.push_back({unexpected, p.src, p.svpid()});
    } else if (stores && !granted) {
      expected_events.push_back({protection, p.src, p.svpid()});
      status = uint8_t(net_status::protection);
    } else if (stores) {
      packet whole = p;
      if (record) whole.first_be = whole.last_be = 0xf;
      for (const tlp& t : writes_of(whole, bus(p.addr), v.cfg_mps_i)) writes_.push_back(t);
      expected_packets += p.is(op::rma_get_data);
    }
    if (p.is(op::rma_get_data)) {
      get& g = gets[{p.src, p.place()}];
      const bool refused = !(sane(p, record) && granted);
      if (live && (refused || p.flags() & nic::rma_first)) g = {refused, p.svpid(), p.epoch()};
      return;
    }
    if (!sane(p, record) || !known) return;
    if (p.is(op::rma_get_done)) {
      const get& g = gets[{p.src, p.place()}];
      const bool its = g.vpid == p.svpid() && g.epoch == p.epoch();
      if (g.refused && its && status == 0) status = uint8_t(net_status::protection);
    }
    answers_.push_back(
        {{p.op, p.svpid(), p.epoch(), status, p.vpid, p.src, p.is(op::rma_atomic_rsp) ? qword(p.data, 0) : p.addr,
          !p.is(op::rma_ack) || p.flags() & nic::rma_wants_ack},
         writes_.size()});
  }
  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || pins::get(v.rx_i, pins::valid) || tr::answers(v.tr_rsp_i) ||
        pins::is_written(v.context_i) || v.ep_valid_i) {
      sample();
      edge();
    } else {
      tr.rest(d);
    }
    ++now;
  }
  bool settle(uint64_t limit = 50000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (rx.empty() && !v.busy_o && writes_seen_ == writes_.size() && answers_.empty()) {
        EXPECT_EQ(events, expected_events);
        EXPECT_EQ(tr.held, 0u);
        EXPECT_EQ(get_packets, expected_packets);
        return true;
      }
    }
    return false;
  }
  uint8_t last_status() const { return answers_.back().first.status; }  // expected of the packet sent last
  bool backlog() const { return answers_.size() + writes_.size() - writes_seen_ > 20; }

 private:
  static bool sane(const packet& p, bool record) {
    if (p.is(op::rma_ack) || p.is(op::rma_get_done)) return p.len_dw == 0;
    if (p.is(op::rma_atomic_rsp)) return p.len_dw == 4 && !(record && p.addr % 16);
    return p.is(op::rma_get_data) && p.src < nodes && payload_sane(p);
  }
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    rx.drive(d, v.rx_i, v.rx_data_i);
    tr.drive(d, v);
    v.wr_ready_i = wr.ready(d);
    v.ans_ready_i = d.chance(answer_percent);
  }
  void sample() {
    rx.sample(v.rx_ready_o);
    tr.sample(d, v);
    if (wr.sample(now, v.wr_o, v.wr_ready_i, v.wr_data_o)) {
      if (on_write) {
        on_write(wr.all.back());
      } else {
        ASSERT_LT(writes_seen_, writes_.size()) << "a write nobody asked for";
        expect_same(wr.all.back(), writes_[writes_seen_++]);
        mem.write(wr.all.back());
      }
      wr.all.clear();
    }
    if (v.ans_valid_o && v.ans_ready_i && !on_write) {
      ASSERT_FALSE(answers_.empty()) << "an answer nobody sent";
      const auto a = pins::get_answer(v.ans_o);
      const answer got{a.op, a.vpid, a.epoch, a.status, a.dvpid, a.node, a.addr, a.asked};
      EXPECT_EQ(got, answers_.front().first);
      EXPECT_GE(writes_seen_, answers_.front().second) << "an answer in front of its writes";
      answers_.pop_front();
    }
    for (auto [on, kind] :
         {std::pair{v.ev_bad_packet_o, bad_packet}, {v.ev_protection_o, protection}, {v.ev_unexpected_o, unexpected}})
      if (on) events.push_back({kind, v.ev_node_o, v.ev_info_o});
    get_packets += v.cnt_get_packets_o;
  }
  std::vector<tlp> writes_;
  size_t writes_seen_ = 0;
  std::deque<std::pair<answer, size_t>> answers_;
};

}  // namespace ggas::test::rma
