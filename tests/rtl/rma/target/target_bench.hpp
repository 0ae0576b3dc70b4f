// SPDX-License-Identifier: Apache-2.0
// rma_target with its environment in C++. The outputs are compared with the expected results of the packets, item by
// item, and nothing may leave before the writes of the packets in front of it.
#pragma once

#include "tests/rtl/rma/target/target_work.hpp"

namespace ggas::test::rma {

template <class V, unsigned W>
class target_bench {
 public:
  static constexpr unsigned width = W, nodes = W == 256 ? 1024 : 64;
  static constexpr bool puts_alone = W == 256;  // as in CMakeLists.txt
  V v;
  dice d{seed()};
  feed<packet, W> rx;
  drain<tlp, W> wr{"wr"}, rd{"rd"};
  drain<packet, W> get{"get"}, at{"at"}, rsp{"rsp"};
  read_side<W> host;
  memory mem;
  translator tr;
  std::vector<event> events;
  target_work work;
  uint64_t now = 0, puts = 0;
  bool gate = true;
  unsigned unit_percent = 100;  // chance a cycle that a neighbour answers

  target_bench() {
    tr.granted = [](uint64_t nla, uint16_t pd, bool write) { return write && pd == 5 && nla < 0x100000; };
    work.nodes = nodes;
    work.puts_alone = puts_alone;
    v.cfg_target_i = 1;
    v.cfg_node_i = 9;
    v.cfg_mps_i = 256;
    v.cfg_timeout_i = 3;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
  }
  ~target_bench() { end_model(v); }
  static uint64_t bus(uint64_t nla) { return translator::bus(nla); }

  // ---- packets of a node that behaves
  packet make(op o, uint16_t src, uint8_t svpid, unsigned flags) {
    packet p{.dst = 9, .src = src, .op = uint8_t(o)};
    p.set_initiator(svpid, uint8_t(d.below(8)));
    p.vpid = uint8_t(d.bits());
    p.set_pd(5);
    p.set_flags(flags);
    return p;
  }
  packet put(uint64_t nla, unsigned bytes, unsigned flags, uint16_t src = 1, uint8_t svpid = 2) {
    packet p = make(op::rma_put, src, svpid, flags);
    p.addr = nla;
    fill(d, p, bytes);
    return p;
  }
  packet with_words(op o, uint16_t src, uint8_t svpid, unsigned flags, unsigned dws) {
    packet p = make(o, src, svpid, flags);
    for (unsigned i = 0; i < dws; ++i) p.data.push_back(uint32_t(d.bits()));
    p.len_dw = uint16_t(dws);
    return p;
  }
  packet notification(uint16_t src = 1, uint8_t svpid = 2, unsigned more = 0, uint64_t nla = 0) {
    packet p = with_words(op::rma_notify, src, svpid, nic::rma_last | nic::rma_wants_ack | more, 4);
    p.addr = nla;
    return p;
  }

  // ---- a packet goes in, and what it must lead to is written down
  void send(const packet& p, uint8_t unit_status = 0, bool flush_fails = false) {
    rx.push(p);
    work.mps = v.cfg_mps_i;
    work.expect(p, v.cfg_target_i, unit_status, flush_fails);
  }

  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || pins::get(v.rx_i, pins::valid) || pins::get(v.cpl_i, pins::valid) ||
        tr::answers(v.tr_rsp_i) || v.nt_rsp_valid_i || v.mb_rsp_valid_i || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
    } else {
      tr.rest(d);
    }
    ++now;
  }
  bool idle() {
    v.eval();
    return rx.empty() && !v.busy_o && !v.timer_o && host.idle();
  }
  // Until everything that was expected has come.
  bool settle(uint64_t limit = 100000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      if (idle() && work.done()) {
        EXPECT_EQ(events, work.events);
        EXPECT_EQ(tr.held, 0u) << "translations that were not given back";
        return true;
      }
    }
    ADD_FAILURE() << "waits for " << work;
    return false;
  }
  void reset() {
    v.rst_ni = 0;
    for (unsigned i = 0; i < 64; ++i) edge();  // rare_flags clears what it knows a row a cycle
    v.rst_ni = 1;
    work.reset();
  }
  bool backlog() const { return work.backlog(); }
  uint64_t answers = 0;

 private:
  using item = target_work::item;
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    v.time_i = now;
    rx.drive(d, v.rx_i, v.rx_data_i);
    host.step(d);
    host.cpl.drive(d, v.cpl_i, v.cpl_data_i);
    tr.drive(d, v);
    v.wr_ready_i = wr.ready(d);
    v.rd_ready_i = rd.ready(d);
    v.get_ready_i = get.ready(d);
    v.at_ready_i = at.ready(d);
    v.rsp_ready_i = rsp.ready(d);
    v.mb_ready_i = d.chance(unit_percent);
    v.nt_ready_i = d.chance(unit_percent);
    v.nt_rsp_valid_i = note_open_ && d.chance(unit_percent);
    v.mb_rsp_valid_i = message_open_ && d.chance(unit_percent);
    if (v.nt_rsp_valid_i) v.nt_rsp_status_i = work.notes.front().status;
    if (v.mb_rsp_valid_i) v.mb_rsp_status_i = work.mbs.front().status;
  }
  void behind(const item& i, const char* what) {
    EXPECT_GE(work.writes_seen, i.writes) << what << " in front of writes at cycle " << now;
  }
  void same(const packet& a, const packet& b) {
    EXPECT_EQ(a.header(), b.header());
    EXPECT_EQ(a.data, b.data);
  }
  void expect_passed(std::deque<item>& q, drain<packet, W>& s, const char* name) {
    ASSERT_FALSE(q.empty()) << name;
    same(s.all.back(), q.front().p);
    behind(q.front(), name);
    EXPECT_TRUE(&q != &work.ats || v.at_status_o == q.front().status);
    q.pop_front();
    s.all.clear();
  }
  void sample() {
    rx.sample(v.rx_ready_o);
    host.cpl.sample(v.cpl_ready_o);
    if (v.nt_rsp_valid_i) work.notes.pop_front(), note_open_ = false;
    if (v.mb_rsp_valid_i) work.mbs.pop_front(), message_open_ = false;
    tr.sample(d, v);
    if (wr.sample(now, v.wr_o, v.wr_ready_i, v.wr_data_o)) {
      ASSERT_LT(work.writes_seen, work.writes.size()) << "a write nobody asked for";
      expect_same(wr.all.back(), work.writes[work.writes_seen++]);
      mem.write(wr.all.back());
      wr.all.clear();
    }
    const std::array<uint32_t, 16> none{};
    uint64_t narrow = 0;
    if (sample_header(rd, v.rd_valid_o, v.rd_ready_i, v.rd_hdr_o, none, narrow)) sample_flush();
    if (sample_header(rsp, v.rsp_valid_o, v.rsp_ready_i, v.rsp_hdr_o, none, narrow)) sample_answer();
    if (get.sample(now, v.get_o, v.get_ready_i, v.get_data_o)) expect_passed(work.gets, get, "get");
    if (at.sample(now, v.at_o, v.at_ready_i, v.at_data_o)) expect_passed(work.ats, at, "atomic");
    sample_message();
    sample_note();
    constexpr std::array kinds{bad_packet, protection, context_off, host_error};
    for (size_t i = 0; i < kinds.size(); ++i)
      if (v.ev_o >> i & 1) events.push_back({kinds[i], v.ev_node_o, v.ev_info_o});
    puts += v.cnt_puts_o;
  }
  template <class S>
  bool sample_header(S& s, bool valid, bool ready, const auto& hdr, const auto& wide, uint64_t narrow) {
    if constexpr (W == 64)
      return s.sample(now, valid, ready, true, true, hdr, narrow);
    else
      return s.sample(now, valid, ready, true, true, hdr, wide);
  }
  void sample_flush() {
    const tlp& t = rd.all.back();
    ASSERT_FALSE(work.flushes.empty());
    EXPECT_EQ(t.addr, bus(work.flushes.front().p.addr) & ~uint64_t{3});
    EXPECT_EQ(t.len_dw, 1u);
    EXPECT_EQ(t.first_be, 0u);
    behind(work.flushes.front(), "flush");
    const bool fails = work.flushes.front().status;
    host.status = [fails](const tlp&) { return fails ? pcie::cpl_status::ur : pcie::cpl_status::sc; };
    host.request(mem, t);
    work.flushes.pop_front();
    rd.all.clear();
  }
  void sample_answer() {
    const packet& a = rsp.all.back();
    ASSERT_FALSE(work.rsps.empty()) << "an answer nobody asked for";
    const item& i = work.rsps.front();
    behind(i, "answer");
    packet want{.dst = i.p.src, .src = 9, .vc = uint8_t(nic::vc::rsp), .status = i.status};
    want.op = uint8_t(i.p.is(op::rma_get) ? op::rma_get_done : op::rma_ack);
    want.tag = i.p.tag;
    want.vpid = i.p.vpid;
    want.set_pd(i.p.pd());
    want.addr = i.p.addr;
    want.set_flags(i.p.flags() & nic::rma_wants_ack);
    same(a, want);
    ++answers;
    work.rsps.pop_front();
    rsp.all.clear();
  }
  void sample_message() {
    if (!v.mb_valid_o || !v.mb_ready_i) return;
    ASSERT_FALSE(work.mbs.empty());
    const packet& p = work.mbs.front().p;
    nic::packet_header h{};
    for (unsigned i = 0; i < h.size(); ++i) h[i] = v.mb_hdr_o[i];
    EXPECT_EQ(h, header_bits(p)) << "the header must hold for the whole packet";
    for (unsigned i = 0; i < W / 32 && message_.size() < p.data.size(); ++i)
      message_.push_back(nic::pins::get_word<W>(v.mb_data_o, i));
    if (!v.mb_eop_o) return;
    EXPECT_TRUE(std::ranges::equal(message_, p.data));
    behind(work.mbs.front(), "message");
    message_.clear();
    message_open_ = true;
  }
  void sample_note() {
    if (!v.nt_valid_o || !v.nt_ready_i) return;
    ASSERT_FALSE(work.notes.empty());
    const packet& p = work.notes.front().p;
    behind(work.notes.front(), "notification");
    const auto word = [&](unsigned i) { return v.nt_o[i] | uint64_t{v.nt_o[i + 1]} << 32; };  // as rma_pkg::note_t
    EXPECT_EQ(v.nt_o[4], p.vpid) << "it is not dropped if the ring is full";
    EXPECT_EQ(v.nt_pd_o, p.pd());
    EXPECT_EQ(word(2), qword(p.data, 0));
    const nic::note want{.kind = nic::note_kind::completer,
                         .status = work.note_status.front(),
                         .op = uint8_t(p.data[3]),
                         .vpid = p.svpid(),
                         .node = p.src,
                         .size = p.data[2] & 0xffffff,
                         .phase = false};
    EXPECT_EQ(word(0), want.word());
    work.note_status.pop_front();
    note_open_ = true;
  }

  std::vector<uint32_t> message_;
  bool note_open_ = false, message_open_ = false;
};

}  // namespace ggas::test::rma
