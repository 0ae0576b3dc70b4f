// SPDX-License-Identifier: Apache-2.0
// Device API: barriers of one block and of a whole grid, their and their time-outs.
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_API_SUITE(Barrier);

// Every round each node writes its round number to every node and, after the barrier, finds every member's.
TEST_P(Barrier, StoresBeforeItAreVisibleEverywhereAfterIt) {
  const uint32_t rounds = simulated() ? 4 : 100;
  for (unsigned threads : {1u, 33u, 128u}) {
    on_all(1, threads, [&, threads] {
      const int me = ggas_node(), n = ggas_nodes();
      for (uint32_t r = 1; r <= rounds; ++r) {
        const uint32_t value = threads << 16 | r;
        for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x)) {
          ggas_store(ggas_pointer_of_node<uint32_t>(k, base() + 4u * static_cast<unsigned>(me)), value);
        }
        ASSERT_EQ(ggas_barrier_block(enough()), ggas_ok);
        for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x)) {
          EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint32_t>(me, base() + 4u * static_cast<unsigned>(k))), value);
        }
        ASSERT_EQ(ggas_barrier_block(enough()), ggas_ok);  // read before the next round overwrites
      }
    });
  }
  run();
}

TEST_P(Barrier, NobodyLeavesBeforeTheLastArrives) {
  const int rounds = simulated() ? 3 : 50;
  std::atomic<int> inside = 0;
  on_all(1, 32, [&] {
    for (int r = 0; r < rounds; ++r) {
      if (threadIdx.x == 0) ++inside;
      ASSERT_EQ(ggas_barrier_block(enough()), ggas_ok);
      if (threadIdx.x == 0) EXPECT_GE(inside, (r + 1) * nodes());
    }
  });
  run();
  EXPECT_EQ(inside, rounds * nodes());
}

TEST_P(Barrier, OfManyBlocks) {
  const int rounds = simulated() ? 3 : 30;
  for (unsigned blocks : {1u, 2u, 7u, 16u}) {  // one cluster, grids of different sizes one after the other
    std::atomic<unsigned> inside = 0;
    on_all({blocks, 1, 1}, {8, 5, 1}, [&, blocks] {
      const bool first = threadIdx.x == 0 && threadIdx.y == 0;
      for (int r = 1; r <= rounds; ++r) {
        if (first) ++inside;
        ASSERT_EQ(ggas_barrier_grid(enough()), ggas_ok);
        if (first) EXPECT_GE(inside, static_cast<unsigned>(r * nodes()) * blocks);
      }
    });
    run();
    EXPECT_EQ(inside, static_cast<unsigned>(rounds * nodes()) * blocks);
  }
}

TEST_P(Barrier, TimesOutWithoutTheOthersAndPassesBehindAReset) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  for (int missing : {nodes() - 1, 0}) {
    for (int n = 0; n < nodes(); ++n) {
      if (n == missing) continue;
      on(n, 1, 40, [&] { EXPECT_EQ(ggas_barrier_block(brief()), ggas_timed_out); });
    }
    run();
    reset();
    for (int i = 0; i < 3; ++i) on_all(1, 40, [&] { EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok); });
    run();
  }
}

TEST_P(Barrier, OfManyBlocksTimesOutInEveryBlock) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  std::atomic<int> timed_out = 0;
  on(1, 4, 32, [&] {
    if (ggas_barrier_grid(brief()) == ggas_timed_out) ++timed_out;
  });
  run();
  EXPECT_EQ(timed_out, 4 * 32);
  reset();
  on_all(4, 32, [&] { EXPECT_EQ(ggas_barrier_grid(enough()), ggas_ok); });
  run();
}

TEST_P(Barrier, RefusesAGridWithMoreBlocksThanItHasFlagsFor) {
  if (simulated()) GTEST_SKIP() << "the number is the same everywhere";
  on(0, layout::max_blocks + 1, 1, [&] { EXPECT_EQ(ggas_barrier_grid(enough()), ggas_bad_argument); });
  run();
}

// Blocks that wait in the barrier keep their places; without room for all the barrier cannot pass, and says so.
TEST_P(Barrier, TimesOutIfTheGridIsNotResident) {
  if (simulated() || nodes() != 2) GTEST_SKIP() << "needs a limit of resident blocks";
  cluster_config cfg = GetParam().config();
  cfg.overrides.push_back("shm.resident_blocks=3");
  make(cfg);
  on_all(3, 32, [&] { EXPECT_EQ(ggas_barrier_grid(enough()), ggas_ok); });
  run();
  std::atomic<int> passed = 0;
  on_all(4, 32, [&] {
    if (ggas_barrier_grid(brief()) == ggas_ok) ++passed;
  });
  run();
  EXPECT_EQ(passed, 0);
}

TEST_P(Barrier, KernelsOfOneStreamShareOneSequence) {
  for (int i = 0; i < 5; ++i) {
    on_all(1, 32, [&] { EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok); });
    on_all(2, 32, [&] { EXPECT_EQ(ggas_barrier_grid(enough()), ggas_ok); });
  }
  run();
}

// The blocks of one GPU meet by themselves: grids of any size in turn, each after what all have stored.
TEST_P(Barrier, BlocksOfANodeMeetAlone) {
  std::vector<uint64_t> stored(8);
  for (const unsigned blocks : {2u, 7u, 1u, 4u, 7u}) {
    on(0, blocks, 40, [&] {
      const ggas_team alone = ggas_team_strided(3, ggas_node(), 1, 1);
      for (uint64_t round = 1; round <= 4; ++round) {
        if (threadIdx.x == 0) ggas_store(&stored[blockIdx.x], round);
        ASSERT_EQ(ggas_barrier_grid(enough(), alone), ggas_ok);
        for (unsigned b = 0; b < gridDim.x; ++b) EXPECT_EQ(ggas_load(&stored[b]), round);
        ASSERT_EQ(ggas_sync_grid(enough(), alone), ggas_ok);
      }
    });
    run();
  }
}

// One does not come: all others have the same status, the record says how many came, and the node is broken.
TEST_P(Barrier, BlocksOfANodeThatIsShortOfOne) {
  std::atomic<int> timed_out = 0;
  on(0, 5, 40, [&] {
    const ggas_team alone = ggas_team_strided(3, ggas_node(), 1, 1);
    if (blockIdx.x == 2) return;
    if (ggas_barrier_grid(brief(), alone) == ggas_timed_out) ++timed_out;
    EXPECT_EQ(ggas_sync_grid(brief(), alone), ggas_broken);
    EXPECT_EQ(ggas_sync_block(brief()), ggas_broken);
  });
  run();
  EXPECT_EQ(timed_out, 4 * 40);
  const auto report = cluster_->report();
  ASSERT_TRUE(report);
  if (!simulated()) EXPECT_NE(report->text().find("only 4 of the 5 blocks of its grid came"), std::string::npos);
  reset();
  on(0, 5, 40, [&] { EXPECT_EQ(ggas_barrier_grid(enough(), ggas_team_strided(3, ggas_node(), 1, 1)), ggas_ok); });
  run();
}

}  // namespace
}  // namespace ggas::test
