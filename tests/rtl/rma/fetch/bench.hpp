// SPDX-License-Identifier: Apache-2.0
// rma_fetch with its environment: commands, a translator, a host and a network. The expected outputs are computed when
// a command is sent: its reads, its packet, or the possible failures.
#pragma once

#include <set>

#include "tests/rtl/rma/unit/completer.hpp"
#include "tests/rtl/rma/unit/tr_pins.hpp"

namespace ggas::test::rma {

struct command {
  uint64_t nla = 0;
  uint16_t pd = 7;
  std::vector<uint8_t> want;  // bytes
  packet p;                   // what must leave
  uint8_t meta = 0;
};

template <class V, unsigned W>
class fetch_bench {
 public:
  static constexpr uint64_t denied = uint64_t{1} << 44;  // pages with this bit have no translation

  V v;
  dice d;
  completer<W> host;
  drain<packet, W> tx{"tx"};
  unsigned command_percent = 100, translate_percent = 100, read_percent = 100;
  bool gate = true;
  std::function<fault(const tlp&)> faults = [](const tlp&) { return fault::none; };
  uint64_t now = 0, unexpected = 0, host_errors = 0, packets = 0, uses = 0, edges = 0;
  uint64_t last_completion = 0;  // cycle of the last completion beat taken
  std::array<uint64_t, 16> ended{};

  explicit fetch_bench(uint64_t seed) : d(seed) {
    v.cfg_mrrs_i = 512;
    v.cfg_timeout_i = 20;
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
    edge();
    edges = 0;
  }
  ~fetch_bench() { end_model(v); }

  // Bus address of an NLA: pages that follow each other do not on the bus.
  static uint64_t bus(uint64_t nla) { return ((nla >> 12) * 0x51ed27 & 0xfffffffff) << 12 | (nla & 4095); }

  void push(uint64_t nla, uint64_t dst, unsigned bytes) {
    command c;
    c.nla = nla;
    c.pd = uint16_t(d.bits());
    c.meta = uint8_t(d.bits());
    for (unsigned i = 0; i < bytes; ++i) c.want.push_back(host.byte(bus(nla + i)));
    c.p = {.dst = 2, .src = 1, .vc = uint8_t(nic::vc::rma), .op = uint8_t(op::rma_put)};
    c.p.addr = dst;
    put_payload(c.p, c.want);
    todo_.push_back(std::move(c));
  }

  void step() {
    drive();
    v.time_i = now;
    v.eval();
    const bool asked = v.cmd_valid_i || tr::answers(v.tr_rsp_i) || pins::get(v.cpl_i, pins::valid);
    if (!gate || asked || v.busy_o || (v.timer_o && now % 1024 == 0)) {
      sample();
      edge();
      if (command_taken_) v.cmd_valid_i = 0, command_taken_ = false;
    } else {
      EXPECT_FALSE(v.tx_valid_o || v.rd_valid_o || v.done_valid_o || v.tr_done_o || (tr::valid(v.tr_o) && v.tr_ready_i))
          << "something moves while idle";
    }
    ++now;
  }
  bool settle(uint64_t limit = 400000) {
    for (uint64_t i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (todo_.empty() && expect_.empty() && host.idle() && !v.busy_o && !v.timer_o) {
        EXPECT_EQ(uses, 0u) << "translations not given back";
        return reads_.empty();
      }
    }
    return false;
  }
  size_t left() const { return todo_.size() + expect_.size(); }

 private:
  struct outcome {
    command c;
    unsigned id = 0;
    std::set<uint8_t> errors;  // statuses it may end with; empty: OK
    bool refused = false;
  };
  struct read {
    unsigned id = 0;
    tlp t;
  };

  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
    ++edges;
  }

  // The reads of a command, as docs/rtl-structure.md cuts them.
  void plan(const command& c, unsigned id) {
    outcome o{c, id, {}, false};
    const uint64_t mrrs = v.cfg_mrrs_i;
    for (size_t at = 0; at < c.want.size();) {
      const uint64_t nla = c.nla + at;
      if (nla & denied) {
        o.errors.insert(uint8_t(net_status::protection));
        break;
      }
      const size_t n = std::min<size_t>(c.want.size() - at, mrrs - bus(nla) % mrrs);
      tlp t;
      t.kind = tlp_kind::mrd;
      t.addr = bus(nla) & ~uint64_t{3};
      const unsigned skip = bus(nla) % 4, end = unsigned(skip + n);
      t.len_dw = uint16_t((end + 3) / 4);
      t.first_be = uint8_t(15 << skip & 15);
      t.last_be = uint8_t(15 >> (3 - (end - 1) % 4));
      if (t.len_dw == 1) t.first_be &= t.last_be, t.last_be = 0;
      reads_.push_back({id, t});
      at += n;
    }
    expect_.push_back(std::move(o));
  }

  void drive() {
    if (!v.cmd_valid_i && !todo_.empty() && d.chance(command_percent)) {
      const command& c = todo_.front();
      v.cmd_valid_i = 1;
      v.cmd_nla_i = c.nla;
      v.cmd_pd_i = c.pd;
      v.cmd_bytes_i = uint16_t(c.want.size());
      v.cmd_meta_i = c.meta;
      const auto h = header_bits(c.p);
      for (unsigned i = 0; i < h.size(); ++i) v.cmd_hdr_i[i] = h[i];
    }
    const bool answers = translating_ && now >= answer_at_, good = !(asked_ & denied);
    const uint64_t addr = answers ? good ? bus(asked_) : d.bits() : 0;
    tr::put(v.tr_rsp_i, answers, addr, uint8_t(good ? net_status::ok : net_status::protection));
    v.tr_ready_i = !translating_ && d.chance(translate_percent);
    v.rd_ready_i = d.chance(read_percent);
    v.tx_ready_i = tx.ready(d);
    host.mrrs = v.cfg_mrrs_i;
    host.step(now, d);
    host.cpl.drive(d, v.cpl_i, v.cpl_data_i);
  }

  void sample() {
    if (tr::answers(v.tr_rsp_i)) translating_ = false, uses += tr::status(v.tr_rsp_i) == 0;
    if (tr::valid(v.tr_o) && v.tr_ready_i) {
      EXPECT_FALSE(tr::write(v.tr_o));
      translating_ = true;
      asked_ = tr::nla(v.tr_o);
      answer_at_ = now + 2 + (translate_percent < 100 ? d.below(30) : 0);
    }
    if (v.tr_done_o) {
      EXPECT_GT(uses, 0u);
      --uses;
    }
    if (v.cmd_valid_i && v.cmd_ready_o) {
      plan(todo_.front(), next_id_++);
      todo_.pop_front();
      command_taken_ = true;
    }
    if (v.rd_valid_o && v.rd_ready_i) take_read(from_bits<tlp>(bits(v.rd_hdr_o)));
    if (pins::get(v.cpl_i, pins::valid) && v.cpl_ready_o) last_completion = now;
    host.cpl.sample(v.cpl_ready_o);
    // A packet and its done come in order, so a packet is checked when it is done.
    tx.sample(now, v.tx_valid_o, v.tx_ready_i, v.tx_sop_o, v.tx_eop_o, v.tx_hdr_o, v.tx_data_o);
    if (v.done_valid_o) done();
    unexpected += v.ev_unexpected_o;
    host_errors += v.ev_host_error_o;
    packets += v.cnt_packets_o;
  }

  static nic::packet_header bits(const auto& hdr) {
    nic::packet_header h{};
    for (size_t i = 0; i < sizeof(hdr) / 4; ++i) h[i] = hdr[i];
    return h;
  }

  void take_read(const tlp& t) {
    ASSERT_FALSE(reads_.empty()) << "a read that nobody wants";
    const read want = reads_.front();
    reads_.pop_front();
    EXPECT_EQ(t.addr, want.t.addr);
    EXPECT_EQ(t.len_dw, want.t.len_dw);
    EXPECT_EQ(t.first_be, want.t.first_be);
    EXPECT_EQ(t.last_be, want.t.last_be);
    const fault f = faults(t);
    const auto o = std::ranges::find(expect_, want.id, &outcome::id);
    ASSERT_NE(o, expect_.end());
    if (f == fault::silent || f == fault::late)
      o->errors.insert(uint8_t(net_status::timeout));
    else if (f != fault::none)
      o->errors.insert(uint8_t(net_status::host_error));
    host.request(now, t, f, d);
  }

  void done() {
    ASSERT_FALSE(expect_.empty()) << "done for nothing at cycle " << now;
    const outcome o = std::move(expect_.front());
    expect_.pop_front();
    ++ended[v.done_status_o];
    EXPECT_EQ(v.done_meta_o, o.c.meta);
    EXPECT_EQ(v.done_nla_o, o.c.nla & 0xff'ffff'ffff);
    const bool host_error =
        v.done_status_o == uint8_t(net_status::host_error) || v.done_status_o == uint8_t(net_status::timeout);
    EXPECT_EQ(v.ev_host_error_o, host_error);
    if (!o.errors.empty()) {
      EXPECT_TRUE(o.errors.contains(v.done_status_o)) << "status " << unsigned(v.done_status_o);
      return;
    }
    EXPECT_EQ(v.done_status_o, 0);
    ASSERT_FALSE(tx.all.empty()) << "done without its packet";
    const packet got = std::move(tx.all.front());
    tx.all.erase(tx.all.begin());
    EXPECT_EQ(got.header(), o.c.p.header());
    EXPECT_TRUE(got.data == o.c.p.data) << to_text(got) << " from " << std::hex << o.c.nla << std::dec << ", bytes "
                                        << o.c.want.size() << ", cycle " << now;
  }

  std::deque<command> todo_;
  std::deque<outcome> expect_;
  std::deque<read> reads_;
  bool translating_ = false, command_taken_ = false;
  uint64_t asked_ = 0, answer_at_ = 0;
  unsigned next_id_ = 0;
};

}  // namespace ggas::test::rma
