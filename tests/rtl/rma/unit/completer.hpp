// SPDX-License-Identifier: Apache-2.0
// A host that answers reads late, in any order, cut anywhere PCIe allows, and on request wrongly or not at all. Each
// byte of its memory is a function of its address.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "tests/rtl/rma/unit/streams.hpp"

namespace ggas::test::rma {

inline uint8_t memory_byte(uint64_t addr) { return uint8_t((addr * 0x9e3779b97f4a7c15ull) >> 56 ^ addr); }

enum class fault { none, refused, poisoned, too_long, silent, late };

template <unsigned W>
class completer {
 public:
  feed<tlp, W> cpl;
  unsigned percent = 10;        // chance a cycle that a piece of an answer leaves, of any read
  uint64_t delay = 0;           // cycles before an answer may leave
  unsigned split_percent = 50;  // chance that an answer is cut at a 64-byte border
  unsigned mrrs = 512;
  uint64_t late_after = 0;     // cycles after which a `late` answer comes
  unsigned early_percent = 0;  // chance that memory is read when the request comes, not when the answer goes
  uint64_t reads = 0;
  std::function<uint8_t(uint64_t)> byte = memory_byte;

  // A read request; its tag must be free.
  void request(uint64_t now, const tlp& t, fault f, dice& d) {
    ++reads;
    EXPECT_EQ(t.kind, tlp_kind::mrd);
    EXPECT_EQ(t.addr & 3, 0u);
    EXPECT_LE((t.addr & (mrrs - 1)) + 4 * t.len_dw, mrrs) << "a read crosses MRRS";
    EXPECT_LE((t.addr & 4095) + 4 * t.len_dw, 4096u) << "a read crosses 4 KB";
    EXPECT_EQ(t.len_dw == 1, t.last_be == 0);
    EXPECT_FALSE(open_.contains(t.tag)) << "tag " << t.tag << " is in use";
    if (f == fault::silent) return;
    read& r = open_[t.tag] = {t, 0, now + delay + (f == fault::late ? late_after : 0), f, d.below(4), {}};
    if (!d.chance(early_percent)) return;
    for (unsigned i = 0; i < t.len_dw; ++i) r.early.push_back(word(t.addr + 4 * i));
  }

  void step(uint64_t now, dice& d) {
    if (open_.empty() || cpl.backlog() > 8 || !d.chance(percent)) return;
    std::vector<uint16_t> due;
    for (const auto& [tag, r] : open_)
      if (r.from <= now) due.push_back(tag);
    if (due.empty()) return;
    const uint16_t tag = percent >= 100 ? oldest(due) : due[d.below(due.size())];
    answer(tag, d);
  }
  bool idle() const { return open_.empty() && cpl.empty(); }
  size_t open() const { return open_.size(); }

 private:
  uint32_t word(uint64_t addr) const {
    uint32_t w = 0;
    for (unsigned k = 0; k < 4; ++k) w |= uint32_t{byte(addr + k)} << (8 * k);
    return w;
  }

  struct read {
    tlp t;
    unsigned done = 0;  // DW answered
    uint64_t from = 0;
    fault f = fault::none;
    uint64_t strikes = 0;  // the piece that is bad
    std::vector<uint32_t> early = {};
  };

  uint16_t oldest(const std::vector<uint16_t>& due) const {
    return *std::ranges::min_element(due, {}, [this](uint16_t t) { return open_.at(t).from; });
  }

  void answer(uint16_t tag, dice& d) {
    read& r = open_.at(tag);
    tlp c;
    c.kind = tlp_kind::cpld;
    c.tag = tag;
    const uint64_t at = r.t.addr + 4 * r.done;
    unsigned n = r.t.len_dw - r.done;
    const unsigned border = unsigned(64 - at % 64) / 4;
    if (n > border && d.chance(split_percent)) n = border + 16 * unsigned(d.below((n - border - 1) / 16 + 1));
    const bool strike = r.f != fault::none && r.f != fault::late && (r.strikes-- == 0 || n + r.done == r.t.len_dw);
    c.byte_count = uint16_t(4 * (r.t.len_dw - r.done));
    c.lower_addr = uint8_t(at & 0x7f);
    if (strike && r.f == fault::refused) {
      c.kind = tlp_kind::cpl;
      c.status = pcie::cpl_status::ur;
      n = 0;
    }
    if (strike && r.f == fault::poisoned) c.poisoned = true;
    if (strike && r.f == fault::too_long) n = r.t.len_dw - r.done + 1;
    c.len_dw = uint16_t(n);
    for (unsigned i = 0; i < n; ++i)
      c.data.push_back(r.done + i < r.early.size() ? r.early[r.done + i] : word(at + 4 * i));
    cpl.push(c);
    r.done += n;
    if (c.kind == tlp_kind::cpl || r.done >= r.t.len_dw) open_.erase(tag);
  }

  std::map<uint16_t, read> open_;
};

}  // namespace ggas::test::rma
