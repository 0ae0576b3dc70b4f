// SPDX-License-Identifier: Apache-2.0
// Device API: teams; barrier and sync of teams.
#include "tests/gpu_api/spread_rig.hpp"

namespace ggas::test {
namespace {

GGAS_SPREAD_SUITE(Team);

TEST_P(Team, RanksAndNodes) {
  on_all(1, 1, [&] {
    const int n = ggas_nodes(), me = ggas_node();
    const ggas_team world = ggas_world();
    EXPECT_EQ(world.size, n);
    EXPECT_EQ(ggas_team_rank(world), me);
    const ggas_team odd = ggas_team_strided(2, 1, 2, n / 2);
    EXPECT_EQ(odd.size, n / 2);
    if (n >= 2) {
      EXPECT_EQ(ggas_team_rank(odd), me % 2 ? me / 2 : -1);
      EXPECT_EQ(ggas_team_node(odd, n / 2 - 1), n / 2 * 2 - 1);
      EXPECT_EQ(ggas_team_good(odd), me % 2 == 1);
    }
    EXPECT_EQ(ggas_team_rank_of(world, n), -1);
    EXPECT_EQ(ggas_team_rank_of(world, -1), -1);
    for (const ggas_team& t :
         {ggas_team_strided(0, 0, 1, 1), ggas_team_strided(4, 0, 1, 1), ggas_team_strided(1, 0, 0, 1),
          ggas_team_strided(1, 0, 1, 0), ggas_team_strided(1, 0, 1, n + 1), ggas_team_strided(1, 1, n, 2),
          ggas_team_strided(1, -1, 1, 1), ggas_team_strided(1, 0, 2, 0x7fffffff)}) {
      EXPECT_EQ(t.size, 0);
      EXPECT_EQ(ggas_barrier_block(enough(), t), ggas_bad_argument);
      EXPECT_EQ(ggas_sync_grid(enough(), t), ggas_bad_argument);
    }
    EXPECT_EQ(ggas_barrier_block(enough(), ggas_team{(me + 1) % (n + 1), 1, 1, 1}), ggas_bad_argument);
    EXPECT_EQ(ggas_barrier_block(enough(), ggas_team{0, 1, n + 1, 1}), ggas_bad_argument);
    EXPECT_EQ(ggas_barrier_block(enough(), ggas_team{0, 0x40000000, 3, 1}), ggas_bad_argument);
  });
  run();
}

// Teams of all kinds take turns in one kernel. Every member stores its round to every member; after the barrier all
// stores have arrived.
TEST_P(Team, BarriersOfTeamsInTurn) {
  const uint32_t rounds = simulated() ? 2 : 25;
  on_all(1, 40, [&] {
    const int me = ggas_node();
    uint32_t value = 0;
    for (uint32_t r = 0; r < rounds; ++r) {
      for (const auto& make_team : teams()) {
        const ggas_team team = make_team();
        ++value;
        for (int k = static_cast<int>(threadIdx.x); k < team.size; k += static_cast<int>(blockDim.x))
          ggas_store(ggas_pointer_of_node<uint32_t>(ggas_team_node(team, k), base()) + me, value);
        ASSERT_EQ(ggas_barrier_block(enough(), team), ggas_ok);
        for (int k = static_cast<int>(threadIdx.x); k < team.size; k += static_cast<int>(blockDim.x))
          ASSERT_EQ(ggas_load(ggas_pointer_of_node<uint32_t>(me, base()) + ggas_team_node(team, k)), value);
        ASSERT_EQ(ggas_sync_block(enough(), team), ggas_ok);  // read before the next round overwrites
      }
    }
  });
  run();
}

// Disjoint teams run at their own pace: one makes many barriers while the other makes none.
TEST_P(Team, DisjointTeamsDoNotWaitForEachOther) {
  if (nodes() < 2) GTEST_SKIP() << "needs two teams";
  on_all(1, 32, [&] {
    const int half = ggas_nodes() / 2;
    const bool low = ggas_node() < half;
    const ggas_team team = ggas_team_strided(1, low ? 0 : half, 1, low ? half : ggas_nodes() - half);
    for (int i = 0; i < (low ? 20 : 1); ++i) ASSERT_EQ(ggas_barrier_block(enough(), team), ggas_ok);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(ggas_barrier_grid(enough()), ggas_ok);
  });
  run();
}

// A node's counter has a multiple of three arrivals when all its blocks have arrived; every member checks this for
// every member between the call and the next one.
TEST_P(Team, OfGrids) {
  const int rounds = simulated() ? 1 : 8;
  std::vector<std::atomic<int>> arrived(8);
  on_all(3, 40, [&] {
    for (int r = 1; r <= rounds; ++r) {
      for (const auto& make_team : teams()) {
        const ggas_team team = make_team();
        if (threadIdx.x == 0) ++arrived[static_cast<size_t>(ggas_node())];
        ASSERT_EQ(r % 2 ? ggas_barrier_grid(enough(), team) : ggas_sync_grid(enough(), team), ggas_ok);
        for (int k = 0; k < team.size; ++k)
          EXPECT_EQ(arrived[static_cast<size_t>(ggas_team_node(team, k))] % 3, 0) << "somebody had not arrived";
        ASSERT_EQ(ggas_barrier_grid(enough(), team), ggas_ok);
        ASSERT_EQ(ggas_sync_grid(enough()), ggas_ok);  // members of other teams are looked at no more
      }
    }
  });
  run();
}

TEST_P(Team, SyncTimesOutAndPassesBehindAReset) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 1, 32, [&] { EXPECT_EQ(ggas_sync_block(brief()), ggas_timed_out); });
  run();
  reset();
  on_all(1, 32, [&] { EXPECT_EQ(ggas_sync_block(enough()), ggas_ok); });
  run();
  on(1, 4, 32, [&] { EXPECT_EQ(ggas_sync_grid(brief()), ggas_timed_out); });
  run();
  reset();
  on_all(4, 32, [&] { EXPECT_EQ(ggas_sync_grid(enough()), ggas_ok); });
  run();
}

}  // namespace
}  // namespace ggas::test
