// SPDX-License-Identifier: Apache-2.0
// Device API: random sequences of barriers with blocks that are late, missing or repeat, a reset after each. Their
// number: GGAS_TEST_SEQUENCES; the first seed: GGAS_SEED.

#include "tests/gpu_api/barrier_plan.cuh"
#include "tests/gpu_api/targets.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

uint64_t sequences() { return number_of("GGAS_TEST_SEQUENCES", 500); }

class BarrierSequences : public api_test {
 public:
  barrier_script script(uint64_t seed, uint64_t number) const {
    const uint64_t r = bench::pattern(seed, number, 0) >> 8;
    const uint64_t stamps = base(), vectors = stamps + stamp_bytes(static_cast<uint64_t>(nodes()));
    return {.seed = seed,
            .number = number,
            .stamps = stamps,
            .vectors = vectors,
            .found = vectors + vector_bytes,
            .timeout_ns = uint64_t{20'000} << r % 6,
            .enough_ns = enough(),
            .calm = 3,
            .calls = 1 + static_cast<uint32_t>(r >> 8 & 7)};
  }
  void play(uint64_t count);
  barrier_findings found() {
    barrier_findings all{};
    for (int n = 0; n < nodes(); ++n) {
      const auto* const blocks = user<barrier_findings>(n, script(1, 1).found - base());
      for (unsigned b = 0; b < plan_blocks; ++b) {
        all.passed += blocks[b].passed;
        all.failed += blocks[b].failed;
        all.early += blocks[b].early;
        all.revived += blocks[b].revived;
        all.strange += blocks[b].strange;
      }
    }
    return all;
  }
};

// Also a test of reset(): the first calls of each sequence are made by every member in time, and pass.
TEST_P(BarrierSequences, OkIsAlwaysABarrier) { play(sequences()); }

void BarrierSequences::play(uint64_t count) {
  const uint64_t seed = test::seed();
  std::cout << "seed " << seed << ", " << count << " sequences\n";
  for (uint64_t number = 1; number <= count; ++number) {
    const barrier_script s = script(seed, number);
    const uint64_t r = bench::pattern(seed, number, 1) >> 8;
    const unsigned blocks = 1 + static_cast<unsigned>(r % 4);
    const unsigned threads = (r >> 8) % 8 == 0 ? 40 : 1 + static_cast<unsigned>((r >> 8) % 8);
    on_all(blocks, threads, [=] { barrier_player(s).play(); });
    run();
    reset();
    const barrier_findings f = found();
    ASSERT_TRUE(f.early == 0 && f.revived == 0 && f.strange == 0)
        << "GGAS_SEED " << seed << ", sequence " << number << " of " << blocks << " x " << threads << ": " << f.early
        << " passed early, " << f.revived << " behind a failure, " << f.strange << " strange";
  }
  const barrier_findings f = found();
  std::cout << f.passed << " calls passed, " << f.failed << " failed\n";
  EXPECT_GT(f.passed, 0u);
  EXPECT_GT(f.failed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Provider, BarrierSequences,
                         testing::Values(target{.nodes = 1}, target{.nodes = 2}, target{.nodes = 3},
                                         target{.nodes = 5}),
                         [](const auto& i) { return i.param.name(); });

// Nodes that run at the same time.
using BarrierSequencesOfThreads = BarrierSequences;
TEST_P(BarrierSequencesOfThreads, OkIsAlwaysABarrier) { play(1 + sequences() / 50); }
INSTANTIATE_TEST_SUITE_P(Provider, BarrierSequencesOfThreads,
                         testing::Values(target{.nodes = 2, .threads = true}, target{.nodes = 3, .threads = true}),
                         [](const auto& i) { return i.param.name(); });

}  // namespace
}  // namespace ggas::test
