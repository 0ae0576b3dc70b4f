// SPDX-License-Identifier: Apache-2.0
// The global reduction: sums over all nodes, in sequence, in one kernel and in parts on the stream.
#include "benchmarks/kernels/global_reduction.cuh"
#include "tests/gpu_api/targets.hpp"

namespace ggas::bench {
namespace {

constexpr unsigned most_blocks = 3;
constexpr uint64_t most_elements = 8192, seed = 5;

class global_reduction_suite : public ggas::test::api_test {
 public:
  reduction_args args(uint64_t elements) const {
    reduction_args a = plan_reduction(base(), most_elements, most_blocks, seed, enough());
    a.elements = elements;
    return a;
  }
  template <class T>
  T word(int node, uint64_t offset, uint64_t which) {
    return reinterpret_cast<T*>(cluster_->segment(node) + offset)[which];
  }
  void reduce(const reduction_args& a, unsigned blocks, reduction_way way, unsigned rounds) {
    on_all({2}, {64}, [a] { reduction_fill(a); });
    for (int n = 0; n < nodes(); ++n) {
      const auto queued = queue_reductions(*cluster_, n, blocks, a, way, rounds);
      ASSERT_TRUE(queued) << queued.error().text;
    }
    run();
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, global_reduction_suite, testing::ValuesIn(ggas::test::targets()),
                         [](const auto& i) { return i.param.name(); });

// Fewer elements than threads, and so many that each thread has more than it loads at once.
TEST_P(global_reduction_suite, EveryRoundAddsTheSumOfAllNodes) {
  constexpr unsigned rounds = 3;
  for (const uint64_t elements : {uint64_t{12}, simulated() ? uint64_t{2048} : most_elements}) {
    for (const unsigned blocks : {1u, most_blocks}) {
      for (const reduction_way way : all_reduction_ways) {
        const reduction_args a = args(elements);
        reduce(a, blocks, way, rounds);
        for (int n = 0; n < nodes(); ++n) {
          EXPECT_EQ(word<uint64_t>(n, a.words, reduction_status), ggas_ok);
          EXPECT_EQ(word<double>(n, a.sums, sum_so_far), rounds * reduction_result(a, nodes()))
              << "node " << n << ", " << elements << " elements, " << blocks << " blocks, " << name_of(way);
        }
      }
    }
  }
}

TEST_P(global_reduction_suite, ALostNodeIsATimeOut) {
  if (nodes() == 1) GTEST_SKIP() << "no other node";
  for (const reduction_way way : all_reduction_ways) {
    SetUp();  // collectives of a cluster are of no use after one that timed out
    reduction_args a = args(512);
    a.timeout_ns = brief();
    on_all({1}, {64}, [a] { reduction_fill(a); });
    for (int n = 1; n < nodes(); ++n) ASSERT_TRUE(queue_reductions(*cluster_, n, 2, a, way, 3));
    run();
    EXPECT_EQ(word<uint64_t>(1, a.words, reduction_status), ggas_timed_out) << name_of(way);
  }
}

}  // namespace
}  // namespace ggas::bench
