// SPDX-License-Identifier: Apache-2.0
// The coalescer against calibration C4, and against a byte-by-byte model.
#include "sim/gpu/coalescer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace ggas::gpu {
namespace {

constexpr unsigned segment = 64;
constexpr uint64_t base = 0x7000'0000'0000;

// Transactions of a kernel in which thread i touches 4 bytes at i * stride: warp by warp.
template <class F>
unsigned requests(unsigned values, unsigned stride, F&& coalesce) {
  unsigned n = 0;
  for (unsigned first = 0; first < values; first += 32) {
    std::vector<lane_span> warp;
    for (unsigned i = first; i < std::min(values, first + 32); ++i) warp.push_back({base + i * stride, 4});
    n += unsigned(coalesce(warp, segment).size());
  }
  return n;
}

struct c4_row {
  unsigned values, consecutive, strided_stores, strided_loads;
};

class calibration_c4 : public testing::TestWithParam<c4_row> {};

TEST_P(calibration_c4, requests_entering_the_smfu) {
  const c4_row r = GetParam();
  EXPECT_EQ(requests(r.values, 4, coalesce_stores), r.consecutive);
  EXPECT_EQ(requests(r.values, 4, coalesce_loads), r.consecutive);
  EXPECT_EQ(requests(r.values, 8, coalesce_stores), r.strided_stores);
  EXPECT_EQ(requests(r.values, 8, coalesce_loads), r.strided_loads);
}

INSTANTIATE_TEST_SUITE_P(thesis, calibration_c4,
                         testing::Values(c4_row{1, 1, 1, 1}, c4_row{16, 1, 16, 2}, c4_row{64, 4, 64, 8},
                                         c4_row{256, 16, 256, 32}, c4_row{1024, 64, 1024, 128},
                                         c4_row{4096, 256, 4096, 512}),
                         [](const auto& p) { return "values" + std::to_string(p.param.values); });

TEST(coalescer, lanes_in_any_order_make_one_run) {
  std::vector<lane_span> warp;
  for (unsigned i = 0; i < 8; ++i) warp.push_back({base + 8 * (7 - i), 8});
  const transactions t = coalesce_stores(warp, segment);
  ASSERT_EQ(t.size(), 1u);
  EXPECT_EQ(t[0].addr, base);
  EXPECT_EQ(t[0].bytes, 64u);
}

TEST(coalescer, an_access_over_a_segment_border_is_cut) {
  const std::vector<lane_span> warp = {{base + 56, 16}};
  for (const transactions& t : {coalesce_stores(warp, segment), coalesce_loads(warp, segment)}) {
    ASSERT_EQ(t.size(), 2u);
    EXPECT_EQ(t[0].bytes, 8u);
    EXPECT_EQ(t[1].addr, base + 64);
    EXPECT_EQ(t[1].bytes, 8u);
  }
}

TEST(coalescer, sectors) {
  std::vector<lane_span> warp;
  for (unsigned i = 0; i < 32; ++i) warp.push_back({base + 8 * i, 8});
  EXPECT_EQ(count_sectors(warp, 32), 8u);
  const std::vector<lane_span> same(32, {base + 4, 4});
  EXPECT_EQ(count_sectors(same, 32), 1u);
}

// Every byte touched is in exactly one transaction; stores contain no other byte; nothing crosses a segment.
TEST(coalescer, random_warps) {
  std::mt19937 rng(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<lane_span> warp(1 + rng() % 32);
    std::set<uint64_t> wanted, segments;
    for (lane_span& l : warp) {
      l = {base + rng() % 300, 1u << rng() % 5};
      for (unsigned b = 0; b < l.bytes; ++b) {
        wanted.insert(l.addr + b);
        segments.insert((l.addr + b) / segment);
      }
    }
    std::multiset<uint64_t> stored;
    for (const transaction& t : coalesce_stores(warp, segment)) {
      ASSERT_EQ(t.addr / segment, (t.addr + t.bytes - 1) / segment);
      for (unsigned b = 0; b < t.bytes; ++b) stored.insert(t.addr + b);
      ASSERT_FALSE(stored.contains(t.addr + t.bytes) && (t.addr + t.bytes) % segment != 0) << "two runs touch";
    }
    ASSERT_TRUE(std::equal(stored.begin(), stored.end(), wanted.begin(), wanted.end()));
    const transactions loads = coalesce_loads(warp, segment);
    ASSERT_EQ(loads.size(), segments.size());
    for (const transaction& t : loads) {
      ASSERT_TRUE(wanted.contains(t.addr) && wanted.contains(t.addr + t.bytes - 1));
      ASSERT_EQ(t.addr / segment, (t.addr + t.bytes - 1) / segment);
    }
  }
}

}  // namespace
}  // namespace ggas::gpu
