// SPDX-License-Identifier: Apache-2.0
// The settings of the cuda provider: what is refused, and with which words. No GPU is needed.
#include "userlib/cluster/providers/cuda/plan.hpp"

#include <gtest/gtest.h>

#include "ggas/detail/platform/layout.hpp"

namespace ggas::userlib {
namespace {

std::string reported(const attempt<>& a) { return a ? "ok" : a.error(); }

TEST(cuda_plan, settings_are_checked) {
  EXPECT_EQ(reported(check(cluster_config{.nodes = 0})), "ok");
  EXPECT_EQ(reported(check(cluster_config{.nodes = -1})), "nodes = -1: must be 0 (all GPUs) or more");
  EXPECT_EQ(reported(check(cluster_config{.nodes = 0, .segment_bytes = 4097})),
            "segment_bytes = 4097: must be a multiple of 4096, at most 17592186044416");
  EXPECT_EQ(reported(check(cluster_config{.nodes = 0, .segment_bytes = 1 << 20, .most_segment_bytes = 4096})),
            "most_segment_bytes = 4096: must be 0 or from segment_bytes = 1048576 to 17592186044416");
  EXPECT_EQ(reported(check(cluster_config{.nodes = 2, .processes = {0, 4, "x"}})),
            "nodes = 2: with a process for each node it must be 0 or their number, 4");
  EXPECT_EQ(reported(check(cluster_config{.nodes = 4, .processes = {0, 4, "x"}})), "ok");
}

TEST(cuda_plan, segments_hold_the_reserved_area) {
  for (uint64_t nodes : {1u, 2u, 8u, 64u}) {
    const uint64_t least = layout::smallest_segment(nodes);
    EXPECT_TRUE(check_segment(least, nodes));
    EXPECT_EQ(reported(check_segment(least - 1, nodes)),
              "segment_bytes = " + std::to_string(least - 1) + ": " + std::to_string(nodes) + " nodes need at least " +
                  std::to_string(least) + " (the library's reserved area and a page)");
  }
}

TEST(cuda_plan, growth_stays_within_what_was_kept_free) {
  constexpr uint64_t now = 64 << 20, most = 256 << 20;
  EXPECT_TRUE(check_growth(now, now, most));
  EXPECT_TRUE(check_growth(most, now, most));
  for (uint64_t bytes : {now - 4096, most + 4096, now + 1})
    EXPECT_EQ(reported(check_growth(bytes, now, most)),
              "grow(" + std::to_string(bytes) +
                  "): must be a multiple of 4096 from 67108864 (segments now) to 268435456 (most_segment_bytes)");
  EXPECT_EQ(reported(check_growth(now, now, 0)),
            "grow(67108864): the cluster was made with most_segment_bytes = 0: its segments do not grow");
}

TEST(cuda_plan, all_processes_say_the_same) {
  const claim good{.passing = 1, .segment_bytes = 64 << 20, .granularity = 2 << 20};
  std::vector<claim> claims(3, good);
  EXPECT_TRUE(check(claims));
  claims[2].granularity = 4096;  // may differ: the largest counts
  claims[1].gpu = {1};
  EXPECT_TRUE(check(claims));
  claims[2].segment_bytes = 32 << 20;
  EXPECT_EQ(reported(check(claims)),
            "segment_bytes must be the same in all processes: rank 0 says 67108864, rank 2 says 33554432");
  claims[2] = good;
  claims[1].most_segment_bytes = 1 << 30;
  EXPECT_EQ(reported(check(claims)),
            "most_segment_bytes must be the same in all processes: rank 0 says 0, rank 1 says 1073741824");
  claims[1] = good;
  claims[2].reserved = 4096;
  EXPECT_EQ(reported(check(claims)),
            "the reserved area of segments (the library's version) must be the same in all processes: rank 0 says 0, "
            "rank 2 says 4096");
  claims[2] = good;
  claims[1].passing = 2;
  EXPECT_EQ(reported(check(claims)),
            "the way GPUs pass memory on must be the same in all processes: rank 0 says 1, rank 1 says 2");
  claims[1] = good;
  claims[2].tuning = 7;
  EXPECT_EQ(
      reported(check(claims)),
      "the tuning of collectives (variable GGAS_TUNING) must be the same in all processes: that of rank 2 differs "
      "from that of rank 0");
}

}  // namespace
}  // namespace ggas::userlib
