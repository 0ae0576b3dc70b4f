// SPDX-License-Identifier: Apache-2.0
// Function-level resets at random times of random traffic: only whole TLPs reach the units, the host is never blocked,
// and the reset lasts until the reads from before it are answered, or 64 ms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <random>

#include "Vhostif_reset.h"
#include "sim/nic/rtl/tlp_pins.hpp"
#include "tests/rtl/unit_model.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

using pcie::tlp;
using pcie::tlp_kind;

constexpr unsigned limit_ticks = 12;  // 64 ms, at a clock of limit_ticks * 16 kHz
constexpr unsigned least_reset = 128;

class HostifReset : public testing::Test {
 protected:
  // One direction of the host's TLPs: beats that come, and what the units saw of them.
  struct stream {
    unsigned left = 0;                  // beats of the open TLP, 0: none
    bool sop = false, offered = false;  // the beat at the pins
    bool passing = false;               // the units saw the beginning of a TLP and not its end
    uint64_t passed = 0, dropped = 0;   // beats
  };
  struct read {
    unsigned left;  // bytes
    uint64_t from;  // answered from then on
  };

  void SetUp() override {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
    rng_.seed(seed());
    v_.clock_khz_i = 16 * limit_ticks + 5;
    v_.rst_ni = 0;
    for (int i = 0; i < 4; ++i) v_.clk_i = i & 1, v_.eval();
    v_.clk_i = 0;
    v_.rst_ni = 1;
    v_.eval();
  }
  void TearDown() override { end_model(v_); }

  unsigned random(unsigned n) { return unsigned(rng_() % n); }
  bool chance(unsigned percent) { return random(100) < percent; }

  void offer(stream& s, uint8_t& valid, uint8_t& sop, uint8_t& eop, bool may_begin) {
    if (!s.offered && (s.left || may_begin) && chance(pace_)) {
      s.offered = true;
      s.sop = s.left == 0;
      if (s.sop) s.left = 1 + (chance(4) ? random(500) : random(6));
    }
    valid = s.offered;
    sop = s.offered && s.sop;
    eop = s.offered && s.left == 1;
  }

  // The next completion of some read that is due.
  void complete() {
    tlp c;
    auto due = std::ranges::find_if(reads_, [&](const read& r) { return r.from <= now_; });
    c.kind = tlp_kind::cpl;  // without data: an error, even if its status reports success
    c.status = chance(50) ? pcie::cpl_status::ur : pcie::cpl_status::sc;
    c.byte_count = uint16_t(due == reads_.end() ? 4 : due->left);
    c.len_dw = 0;
    if (due != reads_.end() && !chance(20)) {
      c.kind = tlp_kind::cpld;
      c.status = pcie::cpl_status::sc;
      c.byte_count = uint16_t(due->left);
      c.len_dw = uint16_t(chance(40) ? 1 + random(due->left / 4) : due->left / 4);
      c.lower_addr = 0;
    }
    last_ = c.kind == tlp_kind::cpl || 4u * c.len_dw == due->left;
    if (due == reads_.end()) return;
    answering_ = due - reads_.begin();
    if (!last_) due->left -= 4 * c.len_dw;
    nic::pins::pack(c, v_.cpl_hdr_i);
  }

  void cycle() {
    v_.tick_i = chance(tick_percent_);
    v_.flr_i = flr_;
    v_.open_i = open_;
    v_.req_ready_i = chance(units_);
    v_.cpl_ready_i = chance(units_);
    offer(req_, v_.req_valid_i, v_.req_sop_i, v_.req_eop_i, true);
    const bool due = std::ranges::any_of(reads_, [&](const read& r) { return r.from <= now_; });
    offer(cpl_, v_.cpl_valid_i, v_.cpl_sop_i, v_.cpl_eop_i, due);
    if (v_.cpl_valid_i && v_.cpl_sop_i && !chosen_) chosen_ = true, complete();
    v_.read_i = 0;
    v_.eval();
    // The NIC reads while it may begin; a read that has begun ends.
    v_.read_i = !v_.closing_o && !v_.flr_done_o && v_.rst_no && !resetting() && reads_.size() < 12 && chance(5);
    v_.eval();
    check(req_, v_.req_valid_i, v_.req_ready_o, v_.req_valid_o, v_.req_ready_i, v_.req_eop_i);
    check(cpl_, v_.cpl_valid_i, v_.cpl_ready_o, v_.cpl_valid_o, v_.cpl_ready_i, v_.cpl_eop_i);
    follow();
    v_.clk_i = 1;
    v_.eval();
    v_.clk_i = 0;
    v_.eval();
    ++now_;
  }
  bool resetting() const { return phase_ != running; }

  void check(stream& s, bool valid, bool taken, bool out, bool ready, bool eop) {
    EXPECT_FALSE(out && !valid);
    if (out) {
      EXPECT_TRUE(v_.rst_no) << "a beat for units in reset, cycle " << now_;
      EXPECT_EQ(s.sop, !s.passing) << "the units see a part of a TLP, cycle " << now_;
      EXPECT_EQ(taken, ready);
    } else if (valid) {
      EXPECT_TRUE(taken) << "the host is held up, cycle " << now_;
    }
    if (!v_.rst_no) s.passing = false;
    if (!valid || !taken) return;
    ++(out ? s.passed : s.dropped);
    if (out) s.passing = !eop;
    s.offered = false;
    --s.left;
    s.sop = false;
  }

  // Which reads are in flight, and how long the reset has lasted.
  void follow() {
    if (v_.cpl_valid_i && v_.cpl_ready_o && v_.cpl_sop_i) {
      if (last_ && answering_ < reads_.size()) reads_.erase(reads_.begin() + long(answering_));
      chosen_ = false;
      answering_ = ~size_t{0};
    }
    if (v_.read_i) reads_.push_back({4 * (1 + random(64)), now_ + 1 + (chance(20) ? random(slow_) : random(30))});
    if (phase_ == running && flr_)
      phase_ = closing, waited_ = 0;
    else if (phase_ != running)
      waited_ += v_.tick_i;
    if (phase_ == closing && !v_.closing_o && !v_.rst_no) phase_ = reset, low_ = 0;
    low_ = v_.rst_no ? 0 : low_ + 1;
    if (v_.flr_done_o && !was_done_) done();
    if (was_done_ && held_) {
      EXPECT_FALSE(v_.rst_no) << "the reset ends although it is still asked for, cycle " << now_;
    }
    held_ = flr_;
    silent_ = reads_.empty() ? silent_ + 1 : 0;
    EXPECT_TRUE(v_.flr_done_o || low_ < least_reset + 8 || silent_ < 8) << "nothing to wait for, cycle " << now_;
    was_done_ = v_.flr_done_o;
    if (phase_ != running && !flr_ && was_done_) phase_ = running;
  }

  void done() {
    ++resets_;
    EXPECT_GE(low_, least_reset - 1);
    const bool late = waited_ >= limit_ticks;
    EXPECT_TRUE(reads_.empty() || late) << reads_.size() << " reads are not answered, " << waited_ << " ticks";
    (reads_.empty() ? answered_ : unanswered_) += 1;
    reads_.clear();  // forgotten: the host gave up as well
  }

  enum { running, closing, reset } phase_ = running;
  Vhostif_reset v_;
  std::mt19937_64 rng_;
  stream req_, cpl_;
  std::deque<read> reads_;
  size_t answering_ = ~size_t{0};
  unsigned pace_ = 100, units_ = 100, tick_percent_ = 1, slow_ = 300, waited_ = 0;
  uint64_t now_ = 0, low_ = 0, silent_ = 0, resets_ = 0, answered_ = 0, unanswered_ = 0;
  bool flr_ = false, open_ = false, last_ = false, chosen_ = false, was_done_ = false, held_ = false;
};

TEST_F(HostifReset, AnyMoment) {
  for (unsigned round = 0; round < 400; ++round) {
    pace_ = 10 + random(91);
    units_ = 10 + random(91);
    tick_percent_ = 1 + random(round % 4 == 0 ? 20 : 3);
    slow_ = round % 4 == 0 ? 5000 : 300;
    for (unsigned k = 0, n = random(300); k < n; ++k) open_ = chance(50), cycle();
    const uint64_t before = resets_;
    // A TLP that leaves may take its time, up to for ever.
    const uint64_t open_until = now_ + (round % 8 == 1 ? 1u << 30 : random(100));
    const uint64_t asked_until = now_ + (chance(30) ? 1 : 1 + random(4000));
    flr_ = true;
    for (unsigned k = 0; resets_ == before || flr_ || v_.flr_done_o; ++k) {
      ASSERT_LT(k, 20'000u) << "the reset does not end, round " << round;
      if (now_ >= asked_until) flr_ = false;
      open_ = now_ < open_until && v_.closing_o;
      cycle();
    }
    // The units work again at once, with a TLP that begins after the reset.
    const uint64_t passed = req_.passed;
    units_ = pace_ = 100;
    for (unsigned k = 0; req_.passed == passed; ++k) {
      ASSERT_LT(k, 1000u) << "nothing passes any more, round " << round;
      cycle();
    }
    if (HasFailure()) FAIL() << "round " << round;
  }
  EXPECT_EQ(resets_, 400u);
  EXPECT_GT(answered_, 100u);
  EXPECT_GT(unanswered_, 20u);
  EXPECT_GT(req_.dropped, 1000u);
  EXPECT_GT(cpl_.dropped, 100u);
}

}  // namespace
}  // namespace ggas::test
