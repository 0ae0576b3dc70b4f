// SPDX-License-Identifier: Apache-2.0
// Requests of the host: random TLPs, broken ones too, what becomes of each, and that stores pass everything else.
#include "ggas_regs.h"
#include "tests/rtl/hostif/suite.hpp"

namespace ggas::test {
namespace {

// ---------------------------------------------------------------- reference

bool run_from_top(unsigned be) { return be == 8 || be == 12 || be == 14 || be == 15; }
bool run_from_bottom(unsigned be) { return be == 1 || be == 3 || be == 7 || be == 15; }

bool header_ok(const tlp& t, unsigned mps) {
  if (t.len_dw == 0 || t.len_dw > 1024 || (t.addr & 3) || t.poisoned) return false;
  if (t.kind == tlp_kind::mwr && t.len_dw * 4u > mps) return false;
  if ((t.addr & 0xfff) + 4u * t.len_dw > 4096) return false;
  if (t.len_dw == 1) return t.last_be == 0;
  if (t.first_be == 0 || t.last_be == 0) return false;
  if (t.len_dw == 2 && !(t.addr & 4)) return true;
  return run_from_top(t.first_be) && run_from_bottom(t.last_be);
}

bool sized(const tlp& t) {
  return (t.len_dw == 1 && t.first_be == 15) || (t.len_dw == 2 && t.first_be == 15 && t.last_be == 15 && !(t.addr & 4));
}

// Where an offset in BAR4 lies, with pages so far apart: contexts have two each, doorbells and slots.
struct place {
  uint64_t page, offset;
  place(uint64_t addr, unsigned page_log2) : page(addr >> page_log2), offset(addr & ((1ull << page_log2) - 1)) {}
  bool exists() const { return page < 512; }
  bool slots() const { return page % 2; }
  // By the units: after all pages what lies on none.
  uint64_t seen() const { return uint64_t{!exists() || offset > 4095} << 21 | (page & 511) << 12 | (offset & 4095); }
};

// Whole DWs from 0x010 to 0x03f of a page of doorbells, from 0 to 0x1ff of one of slots.
bool on_page(const tlp& t, unsigned page_log2) {
  const place at(t.addr, page_log2);
  const uint64_t end = at.offset + 4u * t.len_dw;
  const bool fits = at.slots() ? end <= 0x200 : at.offset >= 0x10 && end <= 0x40;
  return at.exists() && fits && t.first_be == 15 && (t.len_dw == 1 || t.last_be == 15);
}

enum class fate { window, regs, page, page_refused, ur, malformed, unsupported };

fate served(const tlp& t, unsigned page_log2) {
  const bool write = t.kind == tlp_kind::mwr, read = t.kind == tlp_kind::mrd;
  if (!write && !read) return fate::unsupported;
  if (t.bar == 2) return fate::window;
  if (t.bar == 0 && t.addr < 0x10000 && sized(t)) return fate::regs;
  if (write && t.bar == 4) return on_page(t, page_log2) ? fate::page : fate::page_refused;
  if (read && t.bar == 4) return fate::window;
  return fate::unsupported;
}

// begun: the first beat agrees with the length; whole: all do. Of a TLP that is not served only the first one matters.
fate fate_of(const tlp& t, bool begun, bool whole, unsigned mps, unsigned page_log2) {
  const bool memory = t.kind == tlp_kind::mwr || t.kind == tlp_kind::mrd;
  if (memory && (!begun || !header_ok(t, mps))) return fate::malformed;
  const fate f = served(t, page_log2);
  return f != fate::unsupported && f != fate::page_refused && !whole ? fate::malformed : f;
}

struct expectation {
  std::vector<tlp> stores, pages, loads, replies;  // replies: UR or register value, in order
  std::vector<register_access> accesses;           // writes and reads, in the order of their own kind
  std::vector<uint64_t> load_marks, read_marks;
  uint64_t malformed = 0, unsupported = 0, pages_refused = 0, posted = 0;
  unsigned page_log2 = 12;

  void posted_tlp(const tlp& t, fate f) {
    if (f == fate::malformed) ++malformed;
    if (f == fate::unsupported) ++unsupported;
    if (f == fate::page_refused) ++pages_refused;
    if (f != fate::window && f != fate::regs && f != fate::page) return;
    ++posted;
    if (f != fate::regs) {
      (f == fate::window ? stores : pages).push_back(t);
      if (f == fate::page) pages.back().addr = place(t.addr, page_log2).seen();
      return;
    }
    uint64_t data = t.data[0];
    uint8_t strobe = t.addr & 4 ? 0xf0 : 0x0f;
    if (t.len_dw == 2) {
      data |= uint64_t{t.data[1]} << 32;
      strobe = 0xff;
    } else if (t.addr & 4) {
      data <<= 32;
    }
    accesses.push_back({true, static_cast<uint16_t>(t.addr), data, strobe});
    unsupported += !register_exists(static_cast<uint16_t>(t.addr));
  }
  void non_posted_tlp(const tlp& t, fate f) {
    if (f == fate::malformed) ++malformed;
    if (f == fate::unsupported) ++unsupported;
    if (f == fate::window) {
      loads.push_back(t);
      if (t.bar == 4) loads.back().addr = place(t.addr, page_log2).seen();
      load_marks.push_back(posted);
      return;
    }
    tlp r;
    r.tag = t.tag;
    r.kind = tlp_kind::cpl;
    r.status = pcie::cpl_status::ur;
    r.len_dw = 0;
    if (f == fate::regs) {
      accesses.push_back({false, static_cast<uint16_t>(t.addr), 0, 0});
      read_marks.push_back(posted);
      if (register_exists(static_cast<uint16_t>(t.addr))) {
        const uint64_t value = register_value(static_cast<uint16_t>(t.addr));
        r.kind = tlp_kind::cpld;
        r.status = pcie::cpl_status::sc;
        r.len_dw = t.len_dw;
        r.byte_count = static_cast<uint16_t>(4 * t.len_dw);
        r.lower_addr = t.addr & 0x7f;
        if (t.len_dw == 2) {
          r.data.push_back(static_cast<uint32_t>(value));
          r.data.push_back(static_cast<uint32_t>(value >> 32));
        } else {
          r.data.push_back(static_cast<uint32_t>(t.addr & 4 ? value >> 32 : value));
        }
      } else {
        ++unsupported;
      }
    }
    replies.push_back(r);
  }
};

bool same_request(const tlp& a, const tlp& b) {
  return a.addr == b.addr && a.len_dw == b.len_dw && a.first_be == b.first_be && a.last_be == b.last_be &&
         a.data == b.data && a.requester == b.requester && a.attr == b.attr;
}

beat stray_beat(bool eop) {
  beat b;
  b.eop = eop;
  b.words = {1, 2};
  return b;
}

// ---------------------------------------------------------------- tests

TYPED_TEST(hostif_test, StoreLatency) {
  auto& b = *this->b;
  for (unsigned bytes : {8u, 64u}) {
    this->send(this->make(tlp_kind::mwr, 2, 0x1000, bytes / 4));
    const uint64_t start = b.now;
    ASSERT_TRUE(b.drain(100));
    const uint64_t beats = (bytes * 8 + TestFixture::width - 1) / TestFixture::width;
    // sop in to sop out: the TLP is stored whole, so the last beat counts.
    EXPECT_LE(b.win_p.back().first - start, 2 + beats - 1) << bytes << "-byte store";
    if (bytes == 8) {
      EXPECT_LE(b.win_p.back().first - start, 3u);
    }
  }
}

TYPED_TEST(hostif_test, StoresKeepFullRate) {
  auto& b = *this->b;
  for (int i = 0; i < 200; ++i) this->send(this->make(tlp_kind::mwr, 2, 64u * static_cast<unsigned>(i), 16));
  const uint64_t beats = b.rx_req.size();
  ASSERT_TRUE(b.drain(10000));
  EXPECT_EQ(b.win_p.size(), 200u);
  EXPECT_LE(b.win_p.back().last - b.win_p.front().first + 1, beats);
}

// The event of a malformed write has the address of that write, whenever it was found out.
TYPED_TEST(hostif_test, EventsNameTheAddress) {
  auto& b = *this->b;
  const auto write = [&](uint64_t addr) {
    return beats_of<TestFixture::width>(this->make(tlp_kind::mwr, 2, addr, 16));
  };
  const auto push = [&](const std::vector<beat>& beats, size_t n) {
    b.rx_req.insert(b.rx_req.end(), beats.begin(), beats.begin() + long(n));
    for (unsigned i = 0; i < 50; ++i) b.cycle();
  };
  auto x = write(0x1000);
  x[0].eop = true;  // too short with its first beat
  push(x, 1);
  x = write(0x2000);  // cut by the next one
  push(x, 1);
  x = write(0x3000);
  push(x, x.size());
  x = write(0x4000);
  x.back().eop = false;  // too long
  push(x, x.size());
  x = write(0x5000);
  push(x, x.size());
  x[0].sop = false, x[0].eop = true;  // outside of any
  push(x, 1);
  EXPECT_EQ(b.events, std::vector<uint64_t>(4, GGAS_EV_MALFORMED_TLP));
  EXPECT_EQ(b.infos, (std::vector<uint64_t>{0x1000, 0x2000, 0x4000, 0}));
  EXPECT_EQ(b.win_p.size(), 2u);
}

// 10^5 TLPs, half of them wrong in some way, at random pace.
TYPED_TEST(hostif_test, Fuzz) {
  auto& b = *this->b;
  constexpr unsigned page_log2 = page_log2_of(TestFixture::width);
  expectation want;
  want.page_log2 = page_log2;
  bool in_tlp = false;  // the beats so far end inside a TLP
  bool stray_run = false;
  auto random = [&](unsigned n) { return this->random(n); };
  for (int i = 0; i < 100000; ++i) {
    static constexpr tlp_kind kinds[] = {tlp_kind::mwr, tlp_kind::mwr, tlp_kind::mwr, tlp_kind::mrd, tlp_kind::mrd};
    const tlp_kind kind = random(20) ? kinds[random(5)] : static_cast<tlp_kind>(random(16));
    const uint8_t bar = random(10) ? uint8_t(2 * random(3)) : uint8_t(random(8));
    const unsigned len = bar ? 1 + random(random(10) ? 16 : 64) : 1 + random(2);
    uint64_t addr = uint64_t{random(1u << 14)} * 4;
    if (random(2)) addr &= ~7ULL;
    if (bar == 4 && random(4)) {
      const uint64_t page = uint64_t{random(random(20) ? 512 : 1024)} << page_log2;
      addr = page + (kind == tlp_kind::mrd && random(4) ? 0 : addr & (random(20) ? 0x1ff : (1 << page_log2) - 1));
      if (kind == tlp_kind::mwr && (page >> page_log2) % 2 == 0 && random(3)) addr = page + 0x10 + addr % 0x30;
    }
    if (bar == 2) addr = b.rng() & 0xffffffff00ULL;
    tlp t = this->make(kind, bar, addr, len);
    t.attr = static_cast<uint8_t>(random(8));
    unsigned extra = 0;  // beats after the right number
    bool cut = false;    // no eop
    switch (random(16)) {
      case 0:
        t.len_dw = static_cast<uint16_t>(random(2048));
        break;
      case 1:
        t.first_be = static_cast<uint8_t>(random(16));
        break;
      case 2:
        t.last_be = static_cast<uint8_t>(random(16));
        break;
      case 3:
        t.addr += random(4);
        break;
      case 4:
        t.poisoned = true;
        break;
      case 5:
        t.addr |= 0xff0;
        break;
      case 6:
        extra = 1 + random(3);
        break;
      case 7:
        cut = true;
        break;
      default:
        break;
    }
    auto beats = beats_of<TestFixture::width>(t);
    if (cut && beats.size() > 1 && random(2)) beats.pop_back();
    if (cut) beats.back().eop = false;
    for (unsigned e = 0; e < extra; ++e) {
      beats.back().eop = false;
      beats.push_back(stray_beat(true));
    }
    const size_t right = t.kind == tlp_kind::mrd ? 1 : (t.len_dw * 32u + TestFixture::width - 1) / TestFixture::width;
    const bool whole = !cut && beats.size() == right;
    const fate f = fate_of(t, beats[0].eop == (right == 1), whole, 256, page_log2);
    if (whole && t.kind == tlp_kind::mwr)
      t.data.resize(t.len_dw);  // the last beat may hold more, or less, than the header counts
    t.non_posted() ? want.non_posted_tlp(t, f) : want.posted_tlp(t, f);
    for (auto& beat : beats) b.rx_req.push_back(beat);
    in_tlp = cut;
    // Beats out of nowhere, sometimes without an end.
    if (!in_tlp && random(30) == 0) {
      stray_run = random(2);
      b.rx_req.push_back(stray_beat(!stray_run));
      ++want.malformed;
      in_tlp = stray_run;
    }
    if (i % 64 == 0)
      b.pace = {.rx = 20 + random(81),
                .win_p = 20 + random(81),
                .win_np = 20 + random(81),
                .tx_req = 100,
                .tx_cpl = 20 + random(81),
                .tgt_cpl = 100,
                .units = 100,
                .event = random(101),
                .page = 20 + random(81)};
    while (b.rx_req.size() > 200) b.cycle();
  }
  b.pace = {};
  ASSERT_TRUE(b.drain(100000)) << "hangs";

  ASSERT_EQ(b.win_p.size(), want.stores.size());
  for (size_t i = 0; i < want.stores.size(); ++i)
    ASSERT_TRUE(same_request(b.win_p[i].t, want.stores[i])) << "store " << i;
  ASSERT_EQ(b.page.size(), want.pages.size());
  for (size_t i = 0; i < want.pages.size(); ++i)
    ASSERT_TRUE(same_request(b.page[i].t, want.pages[i]) && b.page[i].t.bar == 4) << "page write " << i;
  ASSERT_EQ(b.win_np.size(), want.loads.size());
  for (size_t i = 0; i < want.loads.size(); ++i) {
    ASSERT_TRUE(same_request(b.win_np[i].t, want.loads[i]) && b.win_np[i].t.tag == want.loads[i].tag) << "load " << i;
    ASSERT_GE(b.win_np[i].posted_before, want.load_marks[i]) << "load " << i << " passed a store";
  }
  auto only = [](const std::vector<register_access>& all, bool write) {
    std::vector<register_access> out;
    for (auto& a : all)
      if (a.write == write) out.push_back(a);
    return out;
  };
  EXPECT_EQ(only(b.accesses, true), only(want.accesses, true));
  EXPECT_EQ(only(b.accesses, false), only(want.accesses, false));
  ASSERT_EQ(b.read_marks.size(), want.read_marks.size());
  for (size_t i = 0; i < want.read_marks.size(); ++i)
    ASSERT_GE(b.read_marks[i], want.read_marks[i]) << "register read " << i;
  ASSERT_EQ(b.tx_cpl.size(), want.replies.size());
  for (size_t i = 0; i < want.replies.size(); ++i) {
    const tlp &got = b.tx_cpl[i].t, &r = want.replies[i];
    ASSERT_TRUE(got.tag == r.tag && got.kind == r.kind && got.status == r.status && got.data == r.data &&
                got.len_dw == r.len_dw)
        << "completion " << i;
    ASSERT_EQ(got.completer, 0x1234);
    ASSERT_EQ(got.requester, 0x77);
    if (r.kind == tlp_kind::cpld) {
      ASSERT_TRUE(got.byte_count == r.byte_count && got.lower_addr == r.lower_addr) << "completion " << i;
    }
  }
  EXPECT_EQ(b.pulses[GGAS_EV_MALFORMED_TLP], want.malformed);
  EXPECT_EQ(b.pulses[GGAS_EV_UNSUPPORTED_TLP], want.unsupported);
  EXPECT_EQ(b.pulses[GGAS_EV_PAGE_ACCESS], want.pages_refused);
  EXPECT_GT(want.pages_refused, 1000u);
  EXPECT_EQ(b.credits, np_credits);
  EXPECT_GT(want.malformed, 10000u);
  EXPECT_GT(want.stores.size(), 10000u);
  EXPECT_GT(want.pages.size(), 3000u);
  EXPECT_GT(b.events.size(), 1000u);
}

// Loads of a hanging target fill their queue. Register reads must still be answered, after the posted requests before
// them.
TYPED_TEST(hostif_test, RegisterReadsPassLoadsThatWait) {
  auto& b = *this->b;
  b.pace.win_np = 0;
  for (unsigned i = 0; i + 3 < np_credits; ++i)
    this->send(this->make(tlp_kind::mrd, i % 2 ? 4 : 2, 0x20000 * (i % 8), 2));
  this->send(this->make(tlp_kind::mwr, 2, 0x40, 16));
  for (unsigned i = 0; i < 2; ++i) this->send(this->make(tlp_kind::mrd, 0, 0x100, 2));
  this->send(this->make(tlp_kind::mrd, 0, 0x104, 2));  // rejected
  const uint64_t start = b.now;
  while (b.tx_cpl.size() < 3 && b.now < start + 200) b.cycle();
  ASSERT_EQ(b.tx_cpl.size(), 3u);
  EXPECT_EQ(b.win_p.size(), 1u);
  EXPECT_TRUE(b.win_np.empty());
  EXPECT_EQ(b.tx_cpl[2].t.status, pcie::cpl_status::ur);
  b.pace = {};
  ASSERT_TRUE(b.drain(10000));
  EXPECT_EQ(b.win_np.size(), np_credits - 3);
  EXPECT_EQ(b.credits, np_credits);
}

// Loads may take every credit: stores and register writes pass them, and nothing is lost.
TYPED_TEST(hostif_test, LoadsTakeAllCredits) {
  auto& b = *this->b;
  b.pace.win_np = 0;
  for (unsigned i = 0; i < np_credits; ++i) this->send(this->make(tlp_kind::mrd, 2, 64 * i, 1 + i % 16));
  this->send(this->make(tlp_kind::mwr, 2, 0x40, 16));
  this->send(this->make(tlp_kind::mwr, 0, 0x100, 2));
  for (unsigned i = 0; i < 300; ++i) b.cycle();
  EXPECT_TRUE(b.rx_req.empty());
  EXPECT_EQ(b.credits, 0u);
  EXPECT_EQ(b.win_p.size(), 1u);
  EXPECT_EQ(b.accesses.size(), 1u);
  b.pace = {};
  ASSERT_TRUE(b.drain(10000));
  EXPECT_EQ(b.win_np.size(), np_credits);
  EXPECT_EQ(b.credits, np_credits);
}

// The SMFU takes no stores: the host waits when the queue is full, inside a TLP or between two, and all of them arrive.
TYPED_TEST(hostif_test, HostWaitsForRoom) {
  auto& b = *this->b;
  std::vector<tlp> stores;
  for (unsigned round = 0; round < 6; ++round) {
    b.pace.win_p = 0;
    for (unsigned i = 0; i < 200; ++i) {
      stores.push_back(this->make(tlp_kind::mwr, 2, 256u * i, round % 2 ? 1 : 1 + this->random(64)));
      this->send(stores.back());
    }
    for (unsigned i = 0; i < 3000; ++i) b.cycle();
    EXPECT_FALSE(b.rx_req.empty());
    EXPECT_LT(b.win_p.size(), stores.size());
    b.pace.win_p = 10 + 15 * round;
    ASSERT_TRUE(b.drain(100'000));
  }
  ASSERT_EQ(b.win_p.size(), stores.size());
  for (size_t i = 0; i < stores.size(); ++i) ASSERT_TRUE(same_request(b.win_p[i].t, stores[i])) << "store " << i;
}

// The host accepts no completions and the SMFU no loads: posted requests must still be accepted; the credits run out
// first.
TYPED_TEST(hostif_test, StuckCompletionsDoNotStopStores) {
  auto& b = *this->b;
  b.pace.tx_cpl = 0;
  b.pace.win_np = 0;
  for (int i = 0; i < 500; ++i) this->send(this->make(tlp_kind::mwr, 2, 64u * static_cast<unsigned>(i), 16));
  for (unsigned i = 0; i < np_credits; ++i) {
    auto at = b.rx_req.begin() + 1;
    while (!at->sop) ++at;
    b.rx_req.insert(at, beats_of<TestFixture::width>(this->make(tlp_kind::mrd, i % 2 ? 0 : 2, 0x100, 2)).front());
  }
  for (int i = 0; i < 20000 && b.win_p.size() < 500; ++i) b.cycle();
  EXPECT_EQ(b.win_p.size(), 500u);
  EXPECT_TRUE(b.win_np.empty());
  EXPECT_TRUE(b.tx_cpl.empty());
  // More posted ones pass than any mark could count in a byte.
  for (int i = 0; i < 500; ++i) this->send(this->make(tlp_kind::mwr, 2, 64u * static_cast<unsigned>(i), 2));
  for (int i = 0; i < 20000 && b.win_p.size() < 1000; ++i) b.cycle();
  EXPECT_EQ(b.win_p.size(), 1000u);
  b.pace = {};
  ASSERT_TRUE(b.drain(10000));
  EXPECT_EQ(b.win_np.size(), np_credits / 2);
  EXPECT_EQ(b.tx_cpl.size(), np_credits / 2);
}

}  // namespace
}  // namespace ggas::test
