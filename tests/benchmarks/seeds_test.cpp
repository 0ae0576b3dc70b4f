// SPDX-License-Identifier: Apache-2.0
// Records of several seeds: what becomes of their figures, and what a table shows of them.
#include "benchmarks/harness/seeds.hpp"

#include <gtest/gtest.h>

#include "benchmarks/harness/report_text.hpp"

namespace ggas::bench {
namespace {

record of_seed(uint64_t seed, int bytes, double value, double p99) {
  record r;
  r.benchmark = r.variant = "b";
  r.provider = "sim";
  r.metric = "latency";
  r.unit = "ns";
  r.params["bytes"] = bytes;
  r.seed = seed;
  r.value = value;
  r.p99 = p99;
  r.n = 10;
  r.sim_ns = 100;
  return r;
}

TEST(seeds, a_point_is_the_median_of_its_seeds) {
  seed_records all;
  for (const auto& [seed, value] : {std::pair{4, 100.0}, {5, 300.0}, {6, 110.0}}) {
    all.add(of_seed(uint64_t(seed), 8, value, 2 * value));
    all.add(of_seed(uint64_t(seed), 64, 10 * value, value));
  }
  const auto merged = all.merged();
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].params["bytes"], 8);
  EXPECT_DOUBLE_EQ(merged[0].value, 110);
  EXPECT_DOUBLE_EQ(*merged[0].p99, 220);
  EXPECT_FALSE(merged[0].p50);
  EXPECT_EQ(merged[0].n, 30u);
  EXPECT_EQ(merged[0].sim_ns, 300u);
  EXPECT_EQ(merged[0].seed, 4u);
  ASSERT_TRUE(merged[0].seeds);
  EXPECT_EQ(merged[0].seeds->count, 3u);
  EXPECT_DOUBLE_EQ(merged[0].seeds->least, 100);
  EXPECT_DOUBLE_EQ(merged[0].seeds->most, 300);
  EXPECT_DOUBLE_EQ(merged[1].value, 1100);
  const auto json = to_json(merged[1], false);
  EXPECT_EQ(json["seeds"], (nlohmann::json{{"count", 3}, {"least", 1000.0}, {"most", 3000.0}}));
  EXPECT_TRUE(to_json(of_seed(1, 8, 1, 1), false)["seeds"].is_null());
}

TEST(seeds, two_have_their_mean_and_one_has_no_spread) {
  seed_records all;
  all.add(of_seed(1, 8, 100, 1));
  EXPECT_DOUBLE_EQ(all.merged()[0].value, 100);
  all.add(of_seed(2, 8, 200, 1));
  EXPECT_DOUBLE_EQ(all.merged()[0].value, 150);
}

TEST(seeds, a_table_prints_the_spread) {
  seed_records all;
  all.add(of_seed(7, 8, 90, 1));
  all.add(of_seed(8, 8, 110, 1));
  const description d{.name = "b", .text = "", .params = "bytes", .variants = {}};
  const std::string text = table(d, all.merged());
  for (const char* word : {"medians of 2 seeds from 7", "spread", "-10.0 … +10.0 %"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
}

}  // namespace
}  // namespace ggas::bench
