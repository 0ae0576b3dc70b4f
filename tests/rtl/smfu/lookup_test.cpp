// SPDX-License-Identifier: Apache-2.0
// Where a window access lands: borders and overlap of intervals, misprogrammed ones, mask mode, register read-back.
#include "tests/rtl/smfu/suite.hpp"

namespace ggas::test::smfu {
namespace {

template <class T>
class smfu_lookup : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  struct place {
    int node;  // -1: unmapped
    uint64_t addr;
    uint8_t export_no = home_export;
    uint16_t domain = home_domain;
    bool operator==(const place&) const = default;
  };
  static place place_of(const packet& p) { return {p.dst, p.addr, p.export_no, p.domain}; }
  // Where a store of `len` DWs goes; a load must agree.
  place where(uint64_t addr, unsigned len = 1) {
    b.clear_outputs();
    b.host(this->store(addr, len));
    EXPECT_TRUE(b.settle());
    place s{-1, 0};
    if (b.tx_p.all.size() == 1) s = place_of(b.tx_p.all[0].t);
    EXPECT_EQ(b.event_count[GGAS_EV_STORE_UNMAPPED], s.node == -1 ? 1u : 0u);
    b.clear_outputs();
    const tlp t = this->load(addr, len, 5);
    b.host(t);
    EXPECT_TRUE(b.settle());
    place l{-1, 0};
    if (!b.tx_np.all.empty()) {
      l = place_of(b.tx_np.all[0].t);
      for (const auto& s : b.tx_np.all) b.push(b.rx_rsp, answer_to(s.t));
      EXPECT_TRUE(b.settle());
    } else {
      EXPECT_EQ(b.event_count[GGAS_EV_LOAD_UNMAPPED], 1u);
      this->expect_ones(t);
    }
    EXPECT_EQ(s, l);
    return s;
  }
  static constexpr place nowhere{-1, 0};
};
TYPED_TEST_SUITE(smfu_lookup, widths);

TYPED_TEST(smfu_lookup, borders) {
  using place = typename TestFixture::place;
  this->b.interval(7, 0x10000, 0x12000, 2);
  EXPECT_EQ(this->where(0x10000), (place{2, 0}));
  EXPECT_EQ(this->where(0x11ffc), (place{2, 0x1ffc}));
  EXPECT_EQ(this->where(0xfffc), this->nowhere);
  EXPECT_EQ(this->where(0x12000), this->nowhere);
  EXPECT_EQ(this->where(0x11f00, 64), (place{2, 0x1f00}));
  EXPECT_EQ(this->where(0x11f04, 64), this->nowhere) << "crosses the end";
  EXPECT_EQ(this->where(0xfffc, 2), this->nowhere) << "crosses the start";
  EXPECT_EQ(this->where(~uint64_t{0xff}, 64), this->nowhere);
}

TYPED_TEST(smfu_lookup, last_interval_and_top_of_window) {
  using place = typename TestFixture::place;
  this->b.interval(this->b.intervals - 1, 0xffff'ffff'ffff'e000, 0xffff'ffff'ffff'f000, 1);
  EXPECT_EQ(this->where(0xffff'ffff'ffff'effc), (place{1, 0xffc}));
  EXPECT_EQ(this->where(0xffff'ffff'ffff'f000), this->nowhere);
}

TYPED_TEST(smfu_lookup, lowest_of_overlapping_wins) {
  using place = typename TestFixture::place;
  this->b.interval(9, 0x10000, 0x20000, 2);
  this->b.interval(8, 0x14000, 0x15000, 1);
  this->b.interval(10, 0x1f000, 0x21000, 1);
  EXPECT_EQ(this->where(0x13ffc), (place{2, 0x3ffc}));
  EXPECT_EQ(this->where(0x14000), (place{1, 0}));
  EXPECT_EQ(this->where(0x15000), (place{2, 0x5000}));
  EXPECT_EQ(this->where(0x1fffc), (place{2, 0xfffc}));
  EXPECT_EQ(this->where(0x20000), (place{1, 0x1000}));
  EXPECT_EQ(this->where(0x13ffc, 2), (place{2, 0x3ffc})) << "only one holds all of it";
}

TYPED_TEST(smfu_lookup, bad_interval_stays_disabled) {
  const std::pair<uint64_t, uint64_t> bad[] = {
      {0x10000, 0x10000}, {0x11000, 0x10000}, {0x10004, 0x12000}, {0x10000, 0x12800}, {0, 0}};
  const unsigned last = this->b.intervals - 1;
  for (auto [start, end] : bad) {
    this->b.clear_outputs();
    this->b.interval(last, start, end, 2);
    EXPECT_TRUE(this->b.settle());
    this->expect_event(GGAS_EV_BAD_INTERVAL, 0, last);
    EXPECT_EQ(this->b.read_register(0x2000 + 0x20 * last + 0x10), 0x0d0d'0500'0002u) << "reads as not valid";
    EXPECT_EQ(this->where(0x10000), this->nowhere);
  }
  this->b.clear_outputs();
  this->b.interval(last, 5, 3, 2, false);
  EXPECT_TRUE(this->b.settle());
  EXPECT_TRUE(this->b.events.empty()) << "not armed, not checked";
}

// Of a NIC with 16 intervals the registers of the others read 0 and do nothing.
TYPED_TEST(smfu_lookup, intervals_that_do_not_exist) {
  auto& b = this->b;
  for (unsigned i = b.intervals; i < 64; ++i) {
    b.interval(i, 0x10000, 0x12000, 2);
    for (unsigned word = 0; word < 4; ++word) EXPECT_EQ(b.read_register(uint16_t(0x2000 + 0x20 * i + 8 * word)), 0u);
  }
  EXPECT_EQ(this->where(0x10000), this->nowhere);
}

TYPED_TEST(smfu_lookup, registers) {
  using place = typename TestFixture::place;
  auto& b = this->b;
  b.interval(12, 0x123'4567'8000, 0x123'4567'a000, 1);
  EXPECT_EQ(b.read_register(0x2180), 0x123'4567'8000u);
  EXPECT_EQ(b.read_register(0x2188), 0x123'4567'a000u);
  EXPECT_EQ(b.read_register(0x2190), 0x0d0d'0501'0001u);
  EXPECT_EQ(b.read_register(0x2198), 0u);
  EXPECT_EQ(this->where(0x123'4567'8000), (place{1, 0}));
  b.write_register(0x2184, uint64_t{0x456} << 32, 0xf0);
  EXPECT_EQ(b.read_register(0x2180), 0x456'4567'8000u) << "half write";
  EXPECT_EQ(b.read_register(0x2190), 0x0d0d'0500'0001u) << "a changed border disarms";
  b.write_register(0x2188, 0x456'4567'a000);
  EXPECT_EQ(this->where(0x456'4567'8000), this->nowhere);
  b.write_register(0x2194, uint64_t{0xbeef} << 32, 0xf0);
  b.write_register(0x2190, 0x1'0002, 0x0f);
  EXPECT_EQ(b.read_register(0x2190), 0xbeef'0001'0002u) << "the domain stands in the high half";
  EXPECT_EQ(this->where(0x456'4567'9000), (place{2, 0x1000, 0, 0xbeef}));
  b.write_register(0x2194, uint64_t{home_domain} << 32, 0xf0);
  EXPECT_EQ(b.read_register(0x2190), 0x0d0d'0000'0002u) << "another domain disarms";
  EXPECT_EQ(this->where(0x456'4567'9000), this->nowhere);
  b.write_register(0x2190, 2);
  EXPECT_EQ(this->where(0x456'4567'9000), this->nowhere) << "taken out of use";
}

TYPED_TEST(smfu_lookup, mask_mode) {
  using place = typename TestFixture::place;
  auto& b = this->b;
  b.cfg.mode = 1;
  b.cfg.mask = 0xff'0000'0000;
  b.cfg.shift = 32;
  b.cfg.nodes = 3;
  b.cfg.export_no = home_export;
  b.cfg.domain = home_domain;
  EXPECT_EQ(this->where(0x1'0000'0040), (place{1, 0x40}));
  EXPECT_EQ(this->where(0x2'ffff'f000, 64), (place{2, 0xffff'f000}));
  EXPECT_EQ(this->where(0x3'0000'0000), this->nowhere) << "beyond the last node";
  EXPECT_EQ(this->where(0xff'0000'0000), this->nowhere);
  EXPECT_EQ(this->where(0x1'ffff'fffc, 2), this->nowhere) << "two nodes";
  EXPECT_EQ(this->where(0x7700'0000'0000 | 0x1'0000'1000), (place{1, 0x7700'0000'1000})) << "other bits stay";
  b.cfg.mask = ~uint64_t{0xfff};
  b.cfg.shift = 12;
  b.cfg.nodes = 0xffff;
  EXPECT_EQ(this->where(0x2000), (place{2, 0}));
  EXPECT_EQ(this->where(0x2000 | 0x1'0000'0000'0000), this->nowhere) << "node numbers beyond 16 bits";
}

// The node bits are among the lowest address bits. An access is on one node only if every byte of it is. Its
// completions report the requested address, not the address in the segment.
TYPED_TEST(smfu_lookup, mask_of_low_bits) {
  using place = typename TestFixture::place;
  auto& b = this->b;
  b.cfg.mode = 1;
  b.cfg.nodes = 3;
  b.cfg.export_no = home_export;
  b.cfg.domain = home_domain;
  for (unsigned k = 0; k < 600; ++k) {
    const unsigned shift = 3 + b.random(6), len = 1 + b.random(k % 3 ? 16 : 64);
    b.cfg.shift = uint8_t(shift);
    b.cfg.mask = uint64_t{3} << shift;
    const uint64_t mask = b.cfg.mask, addr = 4 * uint64_t{b.random(960)};
    if (addr % 4096 + 4 * len > 4096) continue;
    place want{int((addr & mask) >> shift), addr & ~mask};
    for (uint64_t at = addr; at < addr + 4 * len; at += 4)
      if ((at & mask) >> shift != uint64_t(want.node)) want = {-1, 0};
    if (want.node == 0) continue;  // no route
    if (want.node > 2) want = {-1, 0};
    ASSERT_EQ(this->where(addr, len), want) << std::hex << addr << " mask " << mask << " DW " << len;
    uint64_t at = addr;
    for (const auto& c : b.ld_cpl.all) {
      ASSERT_EQ(c.t.lower_addr, at & 0x7f) << std::hex << addr << " mask " << mask << " DW " << len;
      at += 4 * c.t.len_dw;
    }
  }
}

TYPED_TEST(smfu_lookup, egress_off) {
  this->b.cfg.egress = 0;
  EXPECT_EQ(this->where(TestFixture::window), this->nowhere);
}

TYPED_TEST(smfu_lookup, intervals_at_random) {
  auto& b = this->b;
  struct iv {
    uint64_t start = 0, end = 0;
    unsigned node = 0;
    uint8_t export_no = 0;
    uint16_t domain = 0;
  };
  std::array<iv, std::remove_reference_t<decltype(b)>::intervals> all;
  for (unsigned i = 0; i < all.size(); ++i) {
    all[i].start = uint64_t{b.random(60)} << 12;
    all[i].end = all[i].start + (uint64_t{1 + b.random(4)} << 12);
    all[i].node = 1 + b.random(2);
    all[i].export_no = uint8_t(b.rng());
    all[i].domain = uint16_t(b.rng());
    b.interval(i, all[i].start, all[i].end, uint16_t(all[i].node), true, all[i].export_no, all[i].domain);
  }
  for (unsigned k = 0; k < all.size(); k += 1 + b.random(3)) {
    b.write_register(uint16_t(0x2010 + 0x20 * k), all[k].node);
    all[k] = {};
  }
  for (unsigned k = 0; k < 300; ++k) {
    const unsigned len = 1 + b.random(64);
    const uint64_t addr = 4 * uint64_t{b.random(66 * 1024)};
    typename TestFixture::place want{-1, 0};
    for (int i = int(all.size()) - 1; i >= 0; --i)
      if (addr >= all[i].start && addr + 4 * len <= all[i].end)
        want = {int(all[i].node), addr - all[i].start, all[i].export_no, all[i].domain};
    ASSERT_EQ(this->where(addr, len), want) << std::hex << addr;
  }
}

}  // namespace
}  // namespace ggas::test::smfu
