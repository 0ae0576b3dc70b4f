// SPDX-License-Identifier: Apache-2.0
// The typed test suite: every test runs at DATA_W = 64 with the smallest parameters, at 256 with the largest. GGAS_SEED
// sets the seed.
#pragma once

#include <algorithm>

#include "Vsmfu_256.h"
#include "Vsmfu_64.h"
#include "ggas_regs.h"
#include "tests/rtl/smfu/world.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test::smfu {

struct w64 {
  using top = Vsmfu_64;
  static constexpr unsigned width = 64, nodes = 64, mtu = 256;
};
struct w256 {
  using top = Vsmfu_256;
  static constexpr unsigned width = 256, nodes = 65536, mtu = 4096;
};
using widths = testing::Types<w64, w256>;

template <class T>
class suite : public testing::Test {
 public:
  using bench_type = bench<typename T::top, T::width>;
  static constexpr uint64_t window = 1ull
                                     << 40;  // interval 0: node 2; interval 1: ourselves; interval 2: node 3, no route
  static constexpr uint64_t span = 1ull << 30;

 protected:
  std::unique_ptr<bench_type> own = std::make_unique<bench_type>(seed());
  bench_type& b = *own;
  void SetUp() override {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed()));
    b.interval(0, window, window + span, 2);
    b.interval(1, window + span, window + 2 * span, 1);
    b.interval(2, window + 2 * span, window + 3 * span, 3);
    b.clear_outputs();
  }
  tlp store(uint64_t addr, unsigned len, unsigned first_be = 0xf, unsigned last_be = 0xf) {
    tlp t = request(tlp_kind::mwr, addr, len, first_be, last_be);
    for (unsigned i = 0; i < len; ++i) t.data.push_back(uint32_t(b.rng()));
    return t;
  }
  tlp load(uint64_t addr, unsigned len, unsigned tag, unsigned first_be = 0xf, unsigned last_be = 0xf) {
    tlp t = request(tlp_kind::mrd, addr, len, first_be, last_be);
    t.tag = uint16_t(tag);
    t.attr = uint8_t(tag & 7);
    return t;
  }
  // The one logged event, and its counter.
  void expect_event(uint8_t code, uint16_t node, uint64_t info) {
    EXPECT_EQ(b.events, (std::vector<logged_event>{{code, node, info}}));
    for (unsigned i = 0; i < b.event_count.size(); ++i)
      EXPECT_EQ(b.event_count[i], i == code ? 1u : 0u) << "event " << i;
  }
  // The load's completions from DW `from` on read as all ones, cut where answers are; it counts as one that failed.
  void expect_ones(const tlp& t, unsigned from = 0) {
    std::vector<tlp> mine;
    for (const auto& c : b.ld_cpl.all)
      if (c.t.tag == t.tag) mine.push_back(c.t);
    const unsigned border = std::min<unsigned>(b.cfg.mps, 256);
    const auto room = [&](unsigned done) { return unsigned((border - (t.addr + 4 * done) % border) / 4); };
    const auto pieces = cut(t.len_dw, room);
    ASSERT_EQ(mine.size(), pieces.size()) << "tag " << t.tag;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto [first, n] = pieces[i];
      const tlp& c = mine[i];
      const uint64_t at = t.addr + 4 * first + (first ? 0 : lead(t.first_be));
      EXPECT_EQ(c.kind, tlp_kind::cpld);
      EXPECT_EQ(c.status, pcie::cpl_status::sc);
      EXPECT_EQ(c.requester, t.requester);
      EXPECT_EQ(c.attr, t.attr);
      EXPECT_EQ(c.len_dw, n);
      EXPECT_EQ(c.byte_count, byte_count(t) - (first ? 4 * first - lead(t.first_be) : 0));
      EXPECT_EQ(c.lower_addr, at & 0x7f);
      if (first < from) continue;
      EXPECT_TRUE(std::ranges::all_of(c.data, [](uint32_t w) { return w == ~0u; })) << "DW " << first;
    }
    EXPECT_EQ(b.counters["load_errors"], 1u);
  }
};

}  // namespace ggas::test::smfu
