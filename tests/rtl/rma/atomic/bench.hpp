// SPDX-License-Identifier: Apache-2.0
// rma_atomic between a host, a translator and the network. Operations on one word must be answered in the order of
// arrival, each once, with the word that the model has at that time.
#pragma once

#include <optional>

#include "sim/nic/rma_format.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::rma {

struct operation {
  uint64_t nla = 0, operand = 0, compare = 0, result = 0;
  unsigned bytes = 8, amo = 0;
  bool is_signed = false;
  uint16_t src = 1, pd = 5;
};

struct done {
  packet request, answer;
  uint64_t old = 0;
  uint8_t status = 0;
};

template <class V, unsigned W>
class atomic_bench {
 public:
  V v;
  dice d{seed()};
  feed<packet, W> at;
  drain<packet, W> rsp{"rsp"};
  drain<tlp, W> wr{"wr"}, rd{"rd"};
  read_side<W> host;
  memory mem;
  translator tr;
  std::vector<done> finished;
  std::function<void(const done&)> on_done = [](const done&) {};
  uint64_t now = 0, atomics = 0, bad = 0, protection = 0, host_errors = 0, unexpected = 0, snoops = 0;
  bool gate = true, snoop = false, refuse = false;
  uint64_t last_info = 0;
  uint16_t last_node = 0;

  atomic_bench() {
    tr.granted = [](uint64_t nla, uint16_t pd, bool write) { return write && pd == 5 && nla < 0x100000; };
    host.percent = 20;
    v.cfg_node_i = 9;
    v.cfg_timeout_i = 3;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
  }
  ~atomic_bench() { end_model(v); }

  static uint64_t bus(uint64_t nla) { return translator::bus(nla); }

  packet make(const operation& o) {
    packet p{.dst = 9, .src = o.src, .op = uint8_t(op::rma_atomic)};
    p.set_initiator(uint8_t(d.bits()), uint8_t(d.bits()));
    p.vpid = uint8_t(d.bits());
    p.set_pd(o.pd);
    p.set_flags(nic::rma_last | nic::rma_wants_ack | (o.result ? nic::rma_result : 0));
    p.addr = o.nla;
    for (uint64_t w : {o.operand, o.compare, o.result, next_cookie_++ | d.bits() << 32}) {
      p.data.push_back(uint32_t(w));
      p.data.push_back(uint32_t(w >> 32));
    }
    p.data.push_back(o.amo | unsigned(o.is_signed) << 4 | (o.bytes == 8 ? 0x8000'0000u : 0));
    p.data.push_back(0);
    p.len_dw = 10;
    return p;
  }
  void send(const packet& p) {
    at.push(p);
    if (p.data.size() >= 8)
      under_way_[qword(p.data, 3)] = p;
    else
      ++without_cookie_;
  }
  void send(const operation& o) { send(make(o)); }
  size_t waiting() const { return under_way_.size() + without_cookie_; }

  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || pins::get(v.at_i, pins::valid) || pins::get(v.cpl_i, pins::valid) ||
        tr::answers(v.tr_rsp_i) || (v.timer_o && (v.wr_snoop_i || now % 1024 == 0))) {
      sample();
      edge();
    } else {
      tr.rest(d);
    }
    snoop = false;
    ++now;
  }
  bool settle(uint64_t limit = 200000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (at.empty() && !v.busy_o && !v.timer_o && host.idle() && waiting() == 0) return true;
    }
    return false;
  }
  done one(const packet& p) {
    send(p);
    EXPECT_TRUE(settle());
    return finished.back();
  }

 private:
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    v.time_i = now;
    v.at_status_i = uint8_t(refuse ? net_status::disabled : net_status::ok);
    at.drive(d, v.at_i, v.at_data_i);
    host.step(d);
    host.cpl.drive(d, v.cpl_i, v.cpl_data_i);
    tr.drive(d, v);
    v.wr_ready_i = wr.ready(d);
    v.rd_ready_i = rd.ready(d);
    v.rsp_ready_i = rsp.ready(d);
    v.wr_snoop_i = snoop;
    snoops += snoop;
  }
  void sample() {
    at.sample(v.at_ready_o);
    host.cpl.sample(v.cpl_ready_o);
    tr.sample(d, v);
    if (wr.sample(now, v.wr_valid_o, v.wr_ready_i, v.wr_sop_o, v.wr_eop_o, v.wr_hdr_o, v.wr_data_o))
      mem.write(wr.all.back());
    const std::array<uint32_t, W / 32> none{};
    uint64_t narrow = 0;
    bool read = false;
    if constexpr (W == 64)
      read = rd.sample(now, v.rd_valid_o, v.rd_ready_i, true, true, v.rd_hdr_o, narrow);
    else
      read = rd.sample(now, v.rd_valid_o, v.rd_ready_i, true, true, v.rd_hdr_o, none);
    if (read) host.request(mem, rd.all.back());
    if (rsp.sample(now, v.rsp_valid_o, v.rsp_ready_i, v.rsp_sop_o, v.rsp_eop_o, v.rsp_hdr_o, v.rsp_data_o)) answered();
    atomics += v.cnt_atomics_o;
    bad += v.ev_bad_packet_o, protection += v.ev_protection_o, host_errors += v.ev_host_error_o;
    unexpected += v.ev_unexpected_o;
    if (v.ev_bad_packet_o || v.ev_protection_o || v.ev_host_error_o) last_info = v.ev_info_o, last_node = v.ev_node_o;
  }
  void answered() {
    const packet& a = rsp.all.back();
    EXPECT_TRUE(a.is(op::rma_atomic_rsp));
    EXPECT_EQ(a.src, 9);
    EXPECT_EQ(a.vc, uint8_t(nic::vc::rsp));
    EXPECT_EQ(a.len_dw, 4);
    auto it = under_way_.find(qword(a.data, 1));
    if (it == under_way_.end()) {
      EXPECT_GT(without_cookie_, 0u) << "answered twice, or never asked";
      --without_cookie_;
      return;
    }
    const packet& p = it->second;
    EXPECT_EQ(a.dst, p.src);
    EXPECT_EQ(a.tag, p.tag);
    EXPECT_EQ(a.vpid, p.vpid);
    EXPECT_EQ(a.pd(), p.pd());
    EXPECT_EQ(a.addr, qword(p.data, 2));
    EXPECT_EQ(a.flags(), p.flags() & (nic::rma_result | nic::rma_wants_ack));
    finished.push_back({p, a, qword(a.data, 0), a.status});
    under_way_.erase(it);
    on_done(finished.back());
    rsp.all.clear(), wr.all.clear(), rd.all.clear();
  }

  std::map<uint64_t, packet> under_way_;  // by cookie
  uint64_t without_cookie_ = 0, next_cookie_ = 1;
};

}  // namespace ggas::test::rma
