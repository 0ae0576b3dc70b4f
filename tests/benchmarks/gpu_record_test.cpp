// SPDX-License-Identifier: Apache-2.0
// From the figures of a benchmark on GPUs to result records.
#include <gtest/gtest.h>

#include "benchmarks/cuda/records.hpp"

namespace ggas::bench {
namespace {

const description about{.name = "put_bandwidth", .text = "puts", .params = "bytes", .variants = {}};

TEST(gpu_record, the_value_is_the_median_and_common_keys_are_filled_in) {
  gpu_options options;
  options.nodes = 4;
  options.seed = 9;
  const std::string platform = "a GPU, its links";
  record_maker maker(about, options, platform);
  const record r = maker.make({.variant = "kernel",
                               .params = {{"bytes", size_t{1} << 33}, {"share", 0.5}, {"method", "bulk"}},
                               .metric = "bandwidth",
                               .unit = "B/s",
                               .samples = {5, 1, 100, 2, 3},
                               .limit = limit{400, true, "links"}});
  EXPECT_EQ(r.benchmark, "put_bandwidth");
  EXPECT_EQ(r.provider, "cuda");
  EXPECT_EQ(r.platform, platform);
  EXPECT_EQ(r.nic, "none");
  EXPECT_EQ(r.nodes, 4);
  EXPECT_EQ(r.seed, 9u);
  EXPECT_DOUBLE_EQ(r.value, 3);
  EXPECT_DOUBLE_EQ(*r.p50, 3);
  EXPECT_DOUBLE_EQ(*r.p99, 100);
  EXPECT_EQ(r.n, 5u);
  EXPECT_EQ(r.params.dump(), R"({"bytes":8589934592,"share":0.5,"method":"bulk"})");
  EXPECT_EQ(r.limit->source, "links");
}

TEST(gpu_record, a_ceiling_of_the_links_only_if_they_are_known) {
  gpu_limits l;
  EXPECT_FALSE(l.link_ceiling());
  l.payload_bytes_per_s = 400e9;
  l.link = "NVLink 4 x 18";
  EXPECT_DOUBLE_EQ(l.link_ceiling(0.5)->value, 200e9);
  EXPECT_NE(l.link_ceiling()->source.find("NVLink 4 x 18"), std::string::npos);
}

}  // namespace
}  // namespace ggas::bench
