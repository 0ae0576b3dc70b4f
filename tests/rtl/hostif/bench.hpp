// SPDX-License-Identifier: Apache-2.0
// The host interface between a random host and random units. Everything that crosses a port is recorded.
#pragma once

#include <verilated.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "ggas_regs.h"
#include "sim/nic/rtl/tlp_pins.hpp"
#include "tests/rtl/beat_pins.hpp"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test {

using nic::pins::get_word;
using pcie::tlp;

constexpr unsigned np_credits = 32;
constexpr unsigned page_log2_of(unsigned width) { return width == 256 ? 16 : 12; }  // as in CMakeLists.txt

struct beat {
  bool sop = false, eop = false;
  tlp hdr;  // valid with sop
  std::vector<uint32_t> words;
  bool holds_credit() const { return sop && hdr.non_posted(); }
};

struct register_access {
  bool write;
  uint16_t addr;
  uint64_t data;  // writes: under strobe, other bytes 0
  uint8_t strobe;
  bool operator==(const register_access&) const = default;
};

// What the bench's register block answers; offsets from 0x8000 on do not exist.
inline uint64_t register_value(uint16_t addr) { return 0x0123456789abcdefULL * ((addr >> 3) + 1u); }
inline bool register_exists(uint16_t addr) { return addr < 0x8000; }

template <unsigned W>
std::vector<beat> beats_of(const tlp& t) {
  std::vector<beat> out;
  size_t at = 0;
  do {
    beat b;
    b.sop = at == 0;
    if (b.sop) b.hdr = t;
    for (unsigned i = 0; i < W / 32 && at < t.data.size(); ++i) b.words.push_back(t.data[at++]);
    b.eop = at >= t.data.size();
    out.push_back(b);
  } while (at < t.data.size());
  return out;
}

template <class V, unsigned W>
struct bench {
  explicit bench(uint64_t seed) : rng(seed) {
    v.cfg_mps_i = 256;
    v.cfg_bus_id_i = 0x1234;
    v.bus_master_i = 1;
    v.rst_ni = 0;
    for (int i = 0; i < 4; ++i) v.clk_i = i & 1, v.eval();
    v.clk_i = 0;
    v.rst_ni = 1;
    v.eval();
  }
  ~bench() { end_model(v); }

  // Probabilities in percent that a stream moves in a cycle.
  struct pace {
    unsigned rx = 100, win_p = 100, win_np = 100, tx_req = 100, tx_cpl = 100, tgt_cpl = 100, units = 100, event = 100,
             page = 100, rma_cpl = 100;
    bool np_ok = true;
  } pace;

  void cycle() {
    drive();
    v.clk_i = 0;
    v.eval();
    sample();
    v.clk_i = 1;
    v.eval();
    for (const auto& retire : retired_) retire();
    retired_.clear();
    v.reg_error_i = answer_.error;
    v.reg_rdata_i = answer_.data;
    ++now;
  }
  // Until nothing moves any more, or false after `limit` cycles.
  bool drain(uint64_t limit) {
    for (uint64_t i = 0; i < limit; ++i) {
      cycle();
      if (rx_req.empty() && rx_cpl.empty() && tgt_req.empty() && rma_wr.empty() && rma_rd.empty() && ld_cpl.empty() &&
          evt.empty() && msix.empty() && !v.busy_o)
        return true;
    }
    return false;
  }

  // ---- to send
  std::deque<beat> rx_req, rx_cpl, tgt_req, rma_wr, rma_rd, ld_cpl;
  std::deque<uint64_t> evt, msix;  // addresses; the payload is made from them

  // ---- seen
  struct seen_tlp {
    tlp t;
    uint64_t first, last;        // cycles
    uint64_t posted_before = 0;  // posted requests handed over before
  };
  std::vector<seen_tlp> win_p, win_np, tx_req, tx_cpl, tgt_cpl, page, rma_cpl;
  std::vector<register_access> accesses;
  std::vector<uint64_t> read_marks;  // posted requests handed over before each register read
  std::array<uint64_t, GGAS_EVENT_COUNT_NUM> pulses{};
  std::vector<uint64_t> events;  // codes
  std::vector<uint64_t> infos;   // of these
  uint64_t posted_done = 0;
  unsigned credits = np_credits;
  uint64_t writes_in = 0, writes_out = 0;       // NIC writes: first beat taken, last beat accepted
  std::deque<uint64_t> cpl_marks;               // writes_in when a window completion was taken
  uint64_t order_errors = 0, begin_errors = 0;  // begin: a TLP began to leave although none may
  uint64_t now = 0;
  V v;
  std::mt19937_64 rng;

  bool chance(unsigned percent) { return rng() % 100 < percent; }

 private:
  void offer(std::deque<beat>& q, unsigned percent, auto& at, auto& data, bool may = true) {
    if (!pins::get(at, pins::valid)) pins::set(at, pins::valid, !q.empty() && may && chance(percent));
    if (!pins::get(at, pins::valid)) return;
    if (q.front().sop) nic::pins::pack(q.front().hdr, at);
    pins::set(at, pins::sop, q.front().sop);
    pins::set(at, pins::eop, q.front().eop);
    nic::pins::put_words<W>(data, q.front().words.data(), q.front().words.size());
  }

  void drive() {
    offer(rx_req, pace.rx, v.rx_req_i, v.rx_req_data_i,
          rx_req.empty() || !rx_req.front().holds_credit() || credits > 0);
    offer(rx_cpl, pace.rx, v.rx_cpl_i, v.rx_cpl_data_i);
    offer(tgt_req, pace.units, v.tgt_req_i, v.tgt_req_data_i);
    offer(rma_wr, pace.units, v.rma_wr_i, v.rma_wr_data_i);
    offer_read();
    offer(ld_cpl, pace.units, v.ld_cpl_i, v.ld_cpl_data_i);
    offer_address(evt, v.evt_i, 4);
    for (unsigned i = 0; i < 4 && !evt.empty(); ++i) v.evt_i[i] = static_cast<uint32_t>(evt.front()) + i;
    offer_address(msix, v.msix_i, 1);
    if (!msix.empty()) v.msix_i[0] = static_cast<uint32_t>(msix.front());
    v.win_p_ready_i = chance(pace.win_p);
    v.win_np_ready_i = chance(pace.win_np);
    v.tx_req_ready_i = chance(pace.tx_req);
    v.tx_cpl_ready_i = chance(pace.tx_cpl);
    v.tgt_cpl_ready_i = chance(pace.tgt_cpl);
    v.page_ready_i = chance(pace.page);
    v.rma_cpl_ready_i = chance(pace.rma_cpl);
    v.tx_np_ok_i = pace.np_ok;
    v.event_ready_i = chance(pace.event);
  }

  // ggas_pkg::host_record_t and host_message_t: after the data the address and `valid`.
  void offer_address(const std::deque<uint64_t>& q, auto& at, unsigned after) {
    if (!at[after + 2]) at[after + 2] = !q.empty() && chance(pace.units);
    if (!at[after + 2]) return;
    at[after] = static_cast<uint32_t>(q.front());
    at[after + 1] = static_cast<uint32_t>(q.front() >> 32);
  }

  // Reads of the RMA: a header each, ggas_pkg::tlp_head_t, whose highest bit is `valid`.
  static bool head_valid(const auto& at) { return at[4] >> 31; }
  void offer_read() {
    if (!head_valid(v.rma_rd_i) && (rma_rd.empty() || !chance(pace.units))) return;
    nic::pins::pack(rma_rd.front().hdr, v.rma_rd_i);
    v.rma_rd_i[4] |= 1u << 31;
  }

  struct partial {
    tlp t;
    uint64_t first = 0;
  };

  bool collect(partial& p, std::vector<seen_tlp>& out, bool sop, bool eop, const auto& hdr, const auto& data) {
    if (sop) p.t = nic::pins::unpack(hdr), p.first = now;
    const size_t left = p.t.has_data() ? p.t.len_dw - std::min<size_t>(p.t.len_dw, p.t.data.size()) : 0;
    for (size_t i = 0; i < std::min<size_t>(left, W / 32); ++i) p.t.data.push_back(get_word<W>(data, i));
    if (eop) out.push_back({p.t, p.first, now, posted_done});
    return eop;
  }

  bool collect(partial& p, std::vector<seen_tlp>& out, const auto& at, bool ready, const auto& data) {
    return pins::get(at, pins::valid) && ready &&
           collect(p, out, pins::get(at, pins::sop), pins::get(at, pins::eop), at, data);
  }

  void sample() {
    const uint64_t done_before = posted_done;
    sample_registers(done_before);
    if (head_valid(v.win_np_o) && v.win_np_ready_i)
      win_np.push_back({nic::pins::unpack(v.win_np_o), now, now, done_before});
    if (collect(win_p_part_, win_p, v.win_p_o, v.win_p_ready_i, v.win_p_data_o)) ++posted_done;
    if (collect(page_part_, page, v.page_o, v.page_ready_i, v.page_data_o)) ++posted_done;
    collect(rma_cpl_part_, rma_cpl, v.rma_cpl_o, v.rma_cpl_ready_i, v.rma_cpl_data_o);
    collect(tgt_cpl_part_, tgt_cpl, v.tgt_cpl_o, v.tgt_cpl_ready_i, v.tgt_cpl_data_o);
    sample_out();
    sample_in();
    for (unsigned i = 0; i < pulses.size(); ++i)
      for (unsigned k = 0; k < 3; ++k) {
        const size_t bit = k * pulses.size() + i;  // event_set_t
        pulses[i] += v.ev_pulse_o[bit / 32] >> bit % 32 & 1;
      }
    if (v.event_valid_o && v.event_ready_i) {
      events.push_back(v.event_o >> 56);
      infos.push_back(v.event_o & 0xff'ffff'ffff);
    }
    credits += v.np_credit_o;
  }

  // The register block answers in the cycle after the access.
  void sample_registers(uint64_t done_before) {
    // As ggas_pkg::reg_access_t.
    const auto& at = v.reg_o;
    const bool req = at[2] >> 25 & 1, write = at[2] >> 24 & 1;
    if (!req) return;
    const uint8_t strobe = at[0] & 0xff;
    const uint64_t data = at[0] >> 8 | uint64_t{at[1]} << 24 | uint64_t{at[2]} << 56;
    const auto addr = uint16_t(at[2] >> 8);
    answer_ = {!register_exists(addr), register_value(addr)};
    uint64_t mask = 0;
    for (unsigned i = 0; i < 8; ++i) mask |= strobe >> i & 1 ? 0xffULL << (8 * i) : 0;
    accesses.push_back({write, addr, write ? data & mask : 0, uint8_t(write ? strobe : 0)});
    if (write) {
      ++posted_done;
    } else {
      read_marks.push_back(done_before);
    }
  }

  void sample_out() {
    const auto begins = [](const auto& at) { return pins::get(at, pins::valid) && pins::get(at, pins::sop); };
    if (begins(v.tx_req_o)) begin_errors += !v.bus_master_i || v.closing_i;
    if (begins(v.tx_cpl_o)) begin_errors += v.closing_i;
    if (collect(tx_req_part_, tx_req, v.tx_req_o, v.tx_req_ready_i, v.tx_req_data_o))
      writes_out += tx_req.back().t.posted();
    // Window completions carry tags from 512 on in these tests.
    if (begins(v.tx_cpl_o) && v.tx_cpl_ready_i && nic::pins::unpack(v.tx_cpl_o).tag >= 512) {
      order_errors += cpl_marks.empty() || writes_out < cpl_marks.front();
      if (!cpl_marks.empty()) cpl_marks.pop_front();
    }
    collect(tx_cpl_part_, tx_cpl, v.tx_cpl_o, v.tx_cpl_ready_i, v.tx_cpl_data_o);
  }

  void sample_in() {
    const uint64_t before = writes_in;
    if (pins::get(v.tgt_req_i, pins::valid) && v.tgt_req_ready_o) {
      writes_in += tgt_req.front().sop && tgt_req.front().hdr.posted();
      tgt_req.pop_front();
      retired_.push_back([this] { pins::set(v.tgt_req_i, pins::valid, false); });
    }
    if (pins::get(v.rma_wr_i, pins::valid) && v.rma_wr_ready_o) {
      writes_in += rma_wr.front().sop;
      rma_wr.pop_front();
      retired_.push_back([this] { pins::set(v.rma_wr_i, pins::valid, false); });
    }
    if (head_valid(v.rma_rd_i) && v.rma_rd_ready_o) {
      rma_rd.pop_front();
      retired_.push_back([this] { v.rma_rd_i[4] = 0; });
    }
    if (pins::get(v.ld_cpl_i, pins::valid) && v.ld_cpl_ready_o) {
      if (ld_cpl.front().sop) cpl_marks.push_back(before);
      ld_cpl.pop_front();
      retired_.push_back([this] { pins::set(v.ld_cpl_i, pins::valid, false); });
    }
    if (v.evt_i[6] && v.evt_ready_o) {
      ++writes_in;
      evt.pop_front();
      retired_.push_back([this] { v.evt_i[6] = 0; });
    }
    if (v.msix_i[3] && v.msix_ready_o) {
      ++writes_in;
      msix.pop_front();
      retired_.push_back([this] { v.msix_i[3] = 0; });
    }
    if (pins::get(v.rx_req_i, pins::valid) && v.rx_req_ready_o) {
      credits -= rx_req.front().holds_credit();
      rx_req.pop_front();
      retired_.push_back([this] { pins::set(v.rx_req_i, pins::valid, false); });
    }
    if (pins::get(v.rx_cpl_i, pins::valid) && v.rx_cpl_ready_o) {
      rx_cpl.pop_front();
      retired_.push_back([this] { pins::set(v.rx_cpl_i, pins::valid, false); });
    }
  }

  partial win_p_part_, page_part_, tgt_cpl_part_, rma_cpl_part_, tx_req_part_, tx_cpl_part_;
  std::vector<std::function<void()>> retired_;  // valids that fall after the edge
  struct {
    bool error = false;
    uint64_t data = 0;
  } answer_;
};

}  // namespace ggas::test
