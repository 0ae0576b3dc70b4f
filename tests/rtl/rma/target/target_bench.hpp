// SPDX-License-Identifier: Apache-2.0
// rma_target with everything around it played by C++. send() works out what the packet must lead to; what comes out is
// compared with that, item by item, and nothing may come out before the writes of the packets in front of it.
#pragma once

#include <set>

#include "sim/nic/rma_format.hpp"
#include "tests/rtl/rma/unit/host.hpp"
#include "tests/rtl/rma/unit/puts.hpp"

namespace ggas::test::rma {

enum event_kind : uint8_t { bad_packet, protection, context_off, host_error };
struct event {
  event_kind kind;
  uint16_t node;
  uint64_t info;
  auto operator<=>(const event&) const = default;
};

template <class V, unsigned W>
class target_bench {
 public:
  static constexpr unsigned width = W;
  V v;
  dice d{seed()};
  feed<packet, W> rx;
  drain<tlp, W> wr{"wr"}, rd{"rd"};
  drain<packet, W> get{"get"}, at{"at"}, rsp{"rsp"};
  read_side<W> host;
  memory mem;
  translator tr;
  std::vector<event> events, expected_events;
  uint64_t now = 0, puts = 0;
  bool gate = true;
  unsigned unit_percent = 100;  // chance a cycle that a neighbour answers

  target_bench() {
    tr.granted = [](uint64_t nla, uint16_t pd, bool write) { return write && pd == 5 && nla < 0x100000; };
    v.cfg_target_i = 1;
    v.cfg_node_i = 9;
    v.cfg_mps_i = 256;
    v.cfg_timeout_i = 3;
    v.rst_ni = 0;
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
    const bool on = v.cfg_target_i;
    uint8_t s = 0;
    if (p.src >= 64 || !known(p)) {
      expected_events.push_back({bad_packet, p.src, p.op});
      return;
    }
    if (!sane(p))
      s = st(net_status::bad), expected_events.push_back({bad_packet, p.src, p.op});
    else if (!on)
      s = st(net_status::disabled), expected_events.push_back({context_off, p.src, p.vpid});
    const bool strong = p.is(op::rma_notify) && p.flags() & nic::rma_strong;
    if (s == 0 && (p.is(op::rma_put) || strong) && !(p.addr < 0x100000 && p.pd() == 5))
      s = st(net_status::protection), expected_events.push_back({protection, p.src, p.addr & 0xff'ffff'ffff});
    switch (op(p.op)) {
      case op::rma_put:
        expect_put(p, s);
        break;
      case op::rma_notify:
        expect_notify(p, s, unit_status, flush_fails);
        break;
      case op::rma_get:
        if (s == 0)
          gets_.push_back({p, writes_.size()});
        else
          expect_answer(p, s);
        break;
      case op::rma_atomic:
        ats_.push_back({p, writes_.size(), s});
        break;
      default:
        if (s == 0) {
          mbs_.push_back({p, writes_.size(), unit_status});
          unit_event(p, unit_status);
          s = unit_status;
        }
        if (s || p.flags() & nic::rma_wants_ack) expect_answer(p, s);
    }
  }

  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || v.rx_valid_i || v.cpl_valid_i || v.tr_rsp_valid_i || v.nt_rsp_valid_i ||
        v.mb_rsp_valid_i || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
    } else {
      tr.sample(d, false, false, 0, 0, false, false);
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
      if (idle() && writes_seen_ == writes_.size() && rsps_.empty() && gets_.empty() && ats_.empty() && mbs_.empty() &&
          notes_.empty() && flushes_.empty()) {
        EXPECT_EQ(events, expected_events);
        EXPECT_EQ(tr.held, 0u) << "translations that were not given back";
        return true;
      }
    }
    ADD_FAILURE() << "waits for " << writes_.size() - writes_seen_ << " writes, " << rsps_.size() << " answers, "
                  << gets_.size() << " gets, " << ats_.size() << " atomics, " << mbs_.size() << " messages, "
                  << notes_.size() << " notes, " << flushes_.size() << " flushes";
    return false;
  }
  void reset() {
    v.rst_ni = 0;
    edge();
    v.rst_ni = 1;
    refused_.clear();
  }
  bool backlog() const { return writes_.size() - writes_seen_ + rsps_.size() + notes_.size() > 20; }
  uint64_t answers = 0;

 private:
  struct item {
    packet p;
    size_t writes;  // that must be accepted before
    uint8_t status = 0;
  };
  static uint8_t st(net_status s) { return uint8_t(s); }
  static bool known(const packet& p) {
    return p.is(op::rma_put) || p.is(op::rma_get) || p.is(op::rma_notify) || p.is(op::rma_atomic) || p.is(op::velo_msg);
  }
  static bool sane(const packet& p) {
    if (p.is(op::rma_notify)) return p.len_dw == 4;
    if (p.is(op::rma_get)) return p.len_dw == 6;
    if (p.is(op::rma_atomic)) return p.len_dw == 10;
    if (p.is(op::velo_msg)) return p.len_dw >= 4 && p.len_dw <= 20;
    if (p.len_dw == 0 || p.len_dw > 64 || p.addr % 4096 / 4 + p.len_dw > 1024) return false;
    if (p.len_dw == 1) return p.last_be == 0;
    if (p.len_dw == 2 && !(p.addr & 4)) return p.first_be && p.last_be;
    const auto in = [](unsigned be, std::initializer_list<unsigned> set) {
      return std::ranges::find(set, be) != set.end();
    };
    return in(p.first_be, {8, 12, 14, 15}) && in(p.last_be, {1, 3, 7, 15});
  }
  // Was a packet of its message refused? The first packet of one ends whatever was before.
  bool refused(const packet& p) {
    if (p.flags() & nic::rma_first) refused_.erase({p.src, p.svpid()});
    return refused_.contains({p.src, p.svpid()});
  }
  void expect_answer(const packet& p, uint8_t s) { rsps_.push_back({p, writes_.size(), s}); }
  void unit_event(const packet& p, uint8_t s) {
    if (s == st(net_status::disabled)) expected_events.push_back({context_off, p.src, p.vpid});
    if (s == st(net_status::bad)) expected_events.push_back({bad_packet, p.src, p.op});
  }
  void expect_put(const packet& p, uint8_t s) {
    const bool last = p.flags() & nic::rma_last, before = refused(p);
    if (s == 0) {
      for (const tlp& t : writes_of(p, bus(p.addr), v.cfg_mps_i)) writes_.push_back(t);
    }
    if (!last) {
      if (s) refused_.insert({p.src, p.svpid()});
      return;
    }
    if (s == 0 && before) s = st(net_status::protection);
    refused_.erase({p.src, p.svpid()});
    if (s || p.flags() & nic::rma_wants_ack) expect_answer(p, s);
  }
  void expect_notify(const packet& p, uint8_t s, uint8_t unit_status, bool flush_fails) {
    const bool before = refused(p);
    if (s == 0 || s == st(net_status::protection)) {
      if (p.flags() & nic::rma_strong && s == 0) {
        flushes_.push_back({p, writes_.size(), flush_fails});
        if (flush_fails) {
          s = st(net_status::host_error);
          expected_events.push_back({host_error, p.src, p.addr & 0xff'ffff'ffff});
        }
      }
      const uint8_t told = p.status ? p.status : before ? st(net_status::protection) : s;
      notes_.push_back({p, writes_.size(), unit_status});
      note_status_.push_back(told);
      unit_event(p, unit_status);
      if (s == 0 || unit_status == st(net_status::full)) s = unit_status;
    }
    if (before && (s == 0 || s == st(net_status::lost))) s = st(net_status::protection);
    if (before && s != st(net_status::full)) refused_.erase({p.src, p.svpid()});
    if (s || p.flags() & nic::rma_wants_ack) expect_answer(p, s);
  }

  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    v.time_i = now;
    rx.drive(d, v.rx_valid_i, v.rx_sop_i, v.rx_eop_i, v.rx_hdr_i, v.rx_data_i);
    host.step(d);
    host.cpl.drive(d, v.cpl_valid_i, v.cpl_sop_i, v.cpl_eop_i, v.cpl_hdr_i, v.cpl_data_i);
    v.tr_ready_i = tr.ready(d);
    v.tr_rsp_valid_i = tr.now().valid;
    v.tr_rsp_addr_i = tr.now().addr;
    v.tr_rsp_status_i = tr.now().status;
    v.wr_ready_i = wr.ready(d);
    v.rd_ready_i = rd.ready(d);
    v.get_ready_i = get.ready(d);
    v.at_ready_i = at.ready(d);
    v.rsp_ready_i = rsp.ready(d);
    v.mb_ready_i = d.chance(unit_percent);
    v.nt_ready_i = d.chance(unit_percent);
    v.nt_rsp_valid_i = note_open_ && d.chance(unit_percent);
    v.mb_rsp_valid_i = message_open_ && d.chance(unit_percent);
    if (v.nt_rsp_valid_i) v.nt_rsp_status_i = notes_.front().status;
    if (v.mb_rsp_valid_i) v.mb_rsp_status_i = mbs_.front().status;
  }
  void behind(const item& i, const char* what) {
    EXPECT_GE(writes_seen_, i.writes) << what << " in front of writes at cycle " << now;
  }
  void same(const packet& a, const packet& b) {
    EXPECT_EQ(a.header_words(), b.header_words());
    EXPECT_EQ(a.data, b.data);
  }
  void expect_passed(std::deque<item>& q, drain<packet, W>& s, const char* name) {
    ASSERT_FALSE(q.empty()) << name;
    same(s.all.back(), q.front().p);
    behind(q.front(), name);
    EXPECT_TRUE(&q != &ats_ || v.at_status_o == q.front().status);
    q.pop_front();
    s.all.clear();
  }
  void sample() {
    rx.sample(v.rx_ready_o);
    host.cpl.sample(v.cpl_ready_o);
    if (v.nt_rsp_valid_i) notes_.pop_front(), note_open_ = false;
    if (v.mb_rsp_valid_i) mbs_.pop_front(), message_open_ = false;
    tr.sample(d, v.tr_valid_o, v.tr_ready_i, v.tr_nla_o, v.tr_pd_o, v.tr_write_o, v.tr_done_o);
    if (wr.sample(now, v.wr_valid_o, v.wr_ready_i, v.wr_sop_o, v.wr_eop_o, v.wr_hdr_o, v.wr_data_o)) {
      ASSERT_LT(writes_seen_, writes_.size()) << "a write nobody asked for";
      expect_same(wr.all.back(), writes_[writes_seen_++]);
      mem.write(wr.all.back());
      wr.all.clear();
    }
    const std::array<uint32_t, 16> none{};
    uint64_t narrow = 0;
    if (sample_header(rd, v.rd_valid_o, v.rd_ready_i, v.rd_hdr_o, none, narrow)) sample_flush();
    if (sample_header(rsp, v.rsp_valid_o, v.rsp_ready_i, v.rsp_hdr_o, none, narrow)) sample_answer();
    if (get.sample(now, v.get_valid_o, v.get_ready_i, v.get_sop_o, v.get_eop_o, v.get_hdr_o, v.get_data_o))
      expect_passed(gets_, get, "get");
    if (at.sample(now, v.at_valid_o, v.at_ready_i, v.at_sop_o, v.at_eop_o, v.at_hdr_o, v.at_data_o))
      expect_passed(ats_, at, "atomic");
    sample_message();
    sample_note();
    for (auto [on, kind] : {std::pair{v.ev_bad_packet_o, bad_packet},
                            {v.ev_protection_o, protection},
                            {v.ev_context_off_o, context_off},
                            {v.ev_host_error_o, host_error}})
      if (on) events.push_back({kind, v.ev_node_o, v.ev_info_o});
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
    ASSERT_FALSE(flushes_.empty());
    EXPECT_EQ(t.addr, bus(flushes_.front().p.addr) & ~uint64_t{3});
    EXPECT_EQ(t.len_dw, 1u);
    EXPECT_EQ(t.first_be, 0u);
    behind(flushes_.front(), "flush");
    const bool fails = flushes_.front().status;
    host.status = [fails](const tlp&) { return fails ? pcie::cpl_status::ur : pcie::cpl_status::sc; };
    host.request(mem, t);
    flushes_.pop_front();
    rd.all.clear();
  }
  void sample_answer() {
    const packet& a = rsp.all.back();
    ASSERT_FALSE(rsps_.empty()) << "an answer nobody asked for";
    const item& i = rsps_.front();
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
    rsps_.pop_front();
    rsp.all.clear();
  }
  void sample_message() {
    if (!v.mb_valid_o || !v.mb_ready_i) return;
    ASSERT_FALSE(mbs_.empty());
    const packet& p = mbs_.front().p;
    std::array<uint32_t, 6> h{};
    for (unsigned i = 0; i < 6; ++i) h[i] = v.mb_hdr_o[i];
    EXPECT_EQ(h, header_bits(p)) << "the header must hold for the whole packet";
    for (unsigned i = 0; i < W / 32 && message_.size() < p.data.size(); ++i)
      message_.push_back(nic::pins::get_word<W>(v.mb_data_o, i));
    if (!v.mb_eop_o) return;
    EXPECT_TRUE(std::ranges::equal(message_, p.data));
    behind(mbs_.front(), "message");
    message_.clear();
    message_open_ = true;
  }
  void sample_note() {
    if (!v.nt_valid_o || !v.nt_ready_i) return;
    ASSERT_FALSE(notes_.empty());
    const packet& p = notes_.front().p;
    behind(notes_.front(), "notification");
    EXPECT_EQ(v.nt_vpid_o, p.vpid);
    EXPECT_EQ(v.nt_pd_o, p.pd());
    EXPECT_EQ(v.nt_w0_o, qword(p.data, 0));
    const nic::note want{.kind = nic::note_kind::completer,
                         .status = note_status_.front(),
                         .op = uint8_t(p.data[3]),
                         .vpid = p.svpid(),
                         .node = p.src,
                         .size = p.data[2] & 0xffffff,
                         .phase = false};
    EXPECT_EQ(v.nt_w1_o, want.word());
    note_status_.pop_front();
    note_open_ = true;
  }

  std::vector<tlp> writes_;
  size_t writes_seen_ = 0;
  std::deque<item> gets_, ats_, mbs_, notes_, rsps_, flushes_;
  std::deque<uint8_t> note_status_;
  std::set<std::pair<uint16_t, uint8_t>> refused_;
  std::vector<uint32_t> message_;
  bool note_open_ = false, message_open_ = false;
};

}  // namespace ggas::test::rma
