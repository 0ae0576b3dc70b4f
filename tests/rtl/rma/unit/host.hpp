// SPDX-License-Identifier: Apache-2.0
// A host for unit tests: memory that accepts writes and answers reads after a random time, tags in any order; and a
// translator (page table of 4 KB pages) with the protocol of the ATU.
#pragma once

#include <functional>
#include <map>

#include "tests/rtl/rma/unit/streams.hpp"
#include "tests/rtl/rma/unit/tr_pins.hpp"

namespace ggas::test::rma {

class memory {
 public:
  uint32_t word(uint64_t addr) const {
    auto it = words_.find(addr & ~uint64_t{3});
    return it == words_.end() ? 0 : it->second;
  }
  uint64_t qword(uint64_t addr) const { return word(addr) | uint64_t{word(addr + 4)} << 32; }
  void set(uint64_t addr, uint32_t v) { words_[addr] = v; }
  void write(const tlp& t) {
    EXPECT_EQ(t.kind, tlp_kind::mwr);
    EXPECT_EQ(t.addr & 3, 0u);
    EXPECT_LE((t.addr & 4095) + 4 * t.len_dw, 4096u) << "a write crosses 4 KB";
    EXPECT_EQ(t.len_dw == 1, t.last_be == 0);
    for (unsigned i = 0; i < t.len_dw; ++i) {
      const unsigned be = i == 0 ? t.first_be : i + 1 == t.len_dw ? t.last_be : 0xf;
      uint32_t mask = 0;
      for (unsigned k = 0; k < 4; ++k) mask |= be >> k & 1 ? 0xffu << (8 * k) : 0;
      uint32_t& w = words_[t.addr + 4 * i];
      w = (w & ~mask) | (t.data[i] & mask);
    }
  }
  const std::map<uint64_t, uint32_t>& words() const { return words_; }

 private:
  std::map<uint64_t, uint32_t> words_;
};

// Reads of the unit and their completions. Memory is read when the request is accepted: a posted write accepted before
// is visible, a later one is not.
template <unsigned W>
class read_side {
 public:
  feed<tlp, W> cpl;
  unsigned percent = 10;  // chance a cycle that a waiting read is answered
  uint64_t reads = 0;
  std::function<pcie::cpl_status(const tlp&)> status = [](const tlp&) { return pcie::cpl_status::sc; };
  std::function<bool(const tlp&)> silent = [](const tlp&) { return false; };

  void request(const memory& m, const tlp& t) {
    ++reads;
    EXPECT_EQ(t.kind, tlp_kind::mrd);
    if (silent(t)) return;
    tlp c;
    c.kind = tlp_kind::cpld;
    c.tag = t.tag;
    c.status = status(t);
    if (c.status != pcie::cpl_status::sc) c.kind = tlp_kind::cpl;
    c.len_dw = c.has_data() ? t.len_dw : 0;
    c.byte_count = uint16_t(t.first_be ? 4 * t.len_dw : 1);
    c.lower_addr = uint8_t(t.addr & 0x7f);
    for (unsigned i = 0; i < c.len_dw; ++i) c.data.push_back(m.word(t.addr + 4 * i));
    waiting_.push_back(c);
  }
  void step(dice& d) {
    if (waiting_.empty() || !d.chance(percent)) return;
    const auto i = ptrdiff_t(d.below(waiting_.size()));
    cpl.push(waiting_[size_t(i)]);
    waiting_.erase(waiting_.begin() + i);
  }
  bool idle() const { return waiting_.empty() && cpl.empty(); }

 private:
  std::deque<tlp> waiting_;
};

// The ATU as one client sees it. Granted pages lie all over the bus.
class translator {
 public:
  static uint64_t bus(uint64_t nla) {
    const uint64_t scattered = ((nla >> 12) + 1) * 0x9e37'79b9'7f4a'7c15ull;
    return (scattered & 0xffff'ffff'0000'0000ull) + 0x10'0000 + nla;
  }
  struct answer {
    bool valid = false;
    uint64_t addr = 0;
    uint8_t status = 0;
  };
  unsigned percent = 100, latency = 2;
  uint64_t held = 0;  // good answers that have not been given back
  uint64_t asked = 0;
  std::function<bool(uint64_t nla, uint16_t pd, bool write)> granted;

  bool ready(dice& d) { return !busy_ && d.chance(percent); }
  void sample(dice& d, bool valid, bool ready, uint64_t nla, uint16_t pd, bool write, bool done) {
    if (done) {
      EXPECT_GT(held, 0u) << "tr_done without a translation";
      --held;
    }
    if (out_.valid) out_ = {};
    if (busy_ && --left_ == 0) {
      busy_ = false;
      out_ = next_;
      held += out_.status == 0;
    }
    if (!valid || !ready) return;
    ++asked;
    const bool good = nla < (uint64_t{1} << 32) && granted(nla, pd, write);
    next_ = {true, good ? bus(nla) : 0xbad0bad0bad0ull, uint8_t(good ? net_status::ok : net_status::protection)};
    busy_ = true;
    left_ = latency - 1 + (percent < 100 ? unsigned(d.below(8)) : 0);
  }
  const answer& now() const { return out_; }
  bool idle() const { return !busy_ && !out_.valid; }

  // The same at the pins tr_* of a unit: before an edge, at it, and in a cycle in which the unit is not clocked.
  template <class V>
  void drive(dice& d, V& v) {
    v.tr_ready_i = ready(d);
    tr::put(v.tr_rsp_i, out_.valid, out_.addr, out_.status);
  }
  template <class V>
  void sample(dice& d, const V& v) {
    sample(d, tr::valid(v.tr_o), v.tr_ready_i, tr::nla(v.tr_o), tr::pd(v.tr_o), tr::write(v.tr_o), v.tr_done_o);
  }
  void rest(dice& d) { sample(d, false, false, 0, 0, false, false); }

 private:
  bool busy_ = false;
  unsigned left_ = 0;
  answer next_, out_;
};

}  // namespace ggas::test::rma
