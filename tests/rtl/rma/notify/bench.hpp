// SPDX-License-Identifier: Apache-2.0
// rma_notify between clients that ask for records and a host that takes the writes, and the software that reads a ring.
#pragma once

#include <array>
#include <map>

#include "Vnotify_512.h"
#include "Vnotify_64.h"
#include "sim/nic/rma_format.hpp"
#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::rma {
using nic::note;
using nic::note_kind;

struct request {
  uint8_t vpid = 0;
  bool check = false, drop = false;
  uint16_t pd = 0;
  uint64_t w0 = 0;
  note w1;
};
struct ring {
  bool enabled = false, backpressure = false, irq = false;
  unsigned vector = 0, log2 = 4;
  uint16_t pd = 0;
  uint64_t base = 0;
};

template <class V, unsigned W>
class bench {
 public:
  V v;
  dice d{seed()};
  drain<tlp, W> wr{"wr"};
  memory mem;
  std::array<std::deque<request>, 3> todo;
  std::array<std::deque<std::pair<request, uint8_t>>, 3> answers;  // with the status
  std::vector<uint8_t> lost_events;
  std::array<std::pair<uint64_t, uint32_t>, 256> reported{};  // records reported, the last count
  uint64_t now = 0, records = 0, met_full = 0;
  unsigned tell_percent = 30;  // chance a cycle that a report is taken
  bool gate = true;
  std::deque<std::array<uint64_t, 2>> doorbells;

  bench() {
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
  }
  ~bench() { end_model(v); }

  void config(unsigned vpid, unsigned word, uint64_t data) {
    pins::write_context(v.context_i, vpid, word, data);
    step();
    pins::end_write(v.context_i);
  }
  void start(unsigned vpid, const ring& r) {
    config(vpid, 1, r.base);
    config(vpid, 0,
           uint64_t{r.enabled} | uint64_t{r.backpressure} << 2 | uint64_t{r.irq} << 3 | uint64_t{r.vector} << 4 |
               uint64_t{r.log2} << 8 | uint64_t{r.pd} << 32);
  }

  void step() {
    drive();
    v.eval();
    if (!gate || v.busy_o || v.nt_valid_i || pins::is_written(v.context_i) || v.db_valid_i) {
      sample();
      edge();
    }
    ++now;
  }
  bool settle(unsigned limit = 10000) {
    for (unsigned i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (!v.busy_o && !offered_ && todo[0].empty() && todo[1].empty() && todo[2].empty() && doorbells.empty())
        return true;
    }
    return false;
  }
  bool looks_busy(unsigned vpid) {
    v.look_vpid_i = uint8_t(vpid);
    v.eval();
    return v.look_busy_o;
  }
  uint8_t one(unsigned client, const request& r) {
    todo[client].push_back(r);
    EXPECT_TRUE(settle());
    const uint8_t s = answers[client].back().second;
    return s;
  }

 private:
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void drive() {
    v.wr_ready_i = wr.ready(d);
    v.written_ready_i = d.chance(tell_percent);
    v.db_valid_i = !doorbells.empty();
    if (v.db_valid_i) {
      v.db_kind_i = 1;
      v.db_vpid_i = uint8_t(doorbells.front()[0]);
      v.db_count_i = uint32_t(doorbells.front()[1]);
      doorbells.pop_front();
    }
    for (unsigned c = 0; c < 3; ++c) {
      if (!todo[c].empty() && !pending_[c] && d.chance(50)) offered_ |= 1u << c;
      if (!(offered_ >> c & 1)) continue;
      const request& r = todo[c].front();
      v.nt_vpid_i = (v.nt_vpid_i & ~(0xffu << 8 * c)) | uint32_t{r.vpid} << 8 * c;
      v.nt_check_pd_i = uint8_t((v.nt_check_pd_i & ~(1u << c)) | unsigned(r.check) << c);
      v.nt_drop_i = uint8_t((v.nt_drop_i & ~(1u << c)) | unsigned(r.drop) << c);
      v.nt_pd_i = (v.nt_pd_i & ~(0xffffull << 16 * c)) | uint64_t{r.pd} << 16 * c;
      const uint64_t w1 = r.w1.word();
      for (unsigned k = 0; k < 2; ++k) {
        v.nt_w0_i[2 * c + k] = uint32_t(r.w0 >> 32 * k);
        v.nt_w1_i[2 * c + k] = uint32_t(w1 >> 32 * k);
      }
    }
    v.nt_valid_i = uint8_t(offered_);
  }
  void sample() {
    if (wr.sample(now, v.wr_o, v.wr_ready_i, v.wr_data_o)) {
      const tlp& t = wr.all.back();
      EXPECT_EQ(t.len_dw, 4u);
      EXPECT_EQ(t.addr % 16, 0u);
      mem.write(t);
    }
    for (unsigned c = 0; c < 3; ++c) {
      if (v.nt_rsp_valid_o >> c & 1) {
        ASSERT_TRUE(pending_[c]) << "an answer without a request";
        answers[c].push_back({*pending_[c], v.nt_rsp_status_o});
        pending_[c].reset();
      }
      if ((v.nt_valid_i & v.nt_ready_o) >> c & 1) {
        pending_[c] = todo[c].front();
        todo[c].pop_front();
        offered_ &= ~(1u << c);
      }
    }
    if (v.ev_lost_o) lost_events.push_back(uint8_t(v.ev_info_o));
    if (v.written_valid_o && v.written_ready_i)
      ++reported[v.written_vpid_o].first, reported[v.written_vpid_o].second = v.written_count_o;
    records += v.cnt_notifications_o;
    met_full += v.cnt_full_o;
  }
  std::array<std::optional<request>, 3> pending_;
  unsigned offered_ = 0;
};

// What software does with its ring: poll a word, clear nothing.
class reader {
 public:
  reader(const memory& m, const ring& r) : mem_(m), ring_(r) {}
  std::optional<std::pair<uint64_t, note>> next() {
    const uint64_t at = ring_.base + 16 * (count_ % (1u << ring_.log2));
    const note n = note::of(mem_.qword(at + 8));
    if (n.phase == (count_ >> ring_.log2 & 1)) return {};
    ++count_;
    return std::pair{mem_.qword(at), n};
  }
  uint32_t count() const { return count_; }

 private:
  const memory& mem_;
  ring ring_;
  uint32_t count_ = 0;
};

}  // namespace ggas::test::rma
