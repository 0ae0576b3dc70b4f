// SPDX-License-Identifier: Apache-2.0
// Launches of grids whose blocks wait for each other: as many as the GPU holds at once meet again and again, one more
// is refused. GGAS_TEST_ROUNDS: how often they meet in the simulator.

#include "ggas/launch.hpp"

#include "tests/gpu_api/targets.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

GGAS_API_SUITE(Launch);

__global__ void meet(uint64_t timeout_ns, uint64_t* met, unsigned rounds) {
  uint64_t done = 0;
  while (done < rounds && ggas_barrier_grid(timeout_ns) == ggas_ok) ++done;
  if (threadIdx.x == 0) ggas_store(met + blockIdx.x, done);
}

TEST_P(Launch, AGridThatDoesNotFitIsRefusedWithTheLimit) {
  constexpr unsigned threads = 32;
  const unsigned rounds = simulated() ? static_cast<unsigned>(number_of("GGAS_TEST_ROUNDS", 2)) : 1000;
  cluster_config cfg = GetParam().config();
  if (!simulated()) cfg.overrides.push_back("shm.resident_blocks=3");
  make(cfg);
  const auto at_once = blocks_at_once(*cluster_, 0, threads, meet);
  ASSERT_TRUE(at_once) << at_once.error().text;
  const unsigned fit = *at_once;
  ASSERT_GE(fit, 1u);
  const auto refused = launch_grid(*cluster_, 0, fit + 1, threads, meet, enough(), user<uint64_t>(0), 1u);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::bad_argument);
  const std::string limit = simulated() ? "gpu.blocks_per_sm = 16" : "shm.resident_blocks = 3";
  EXPECT_NE(refused.error().text.find(limit), std::string::npos) << refused.error().text;
  for (int n = 0; n < nodes(); ++n)
    EXPECT_TRUE(launch_grid(*cluster_, n, fit, threads, meet, enough(), user<uint64_t>(n), rounds));
  run();
  for (int n = 0; n < nodes(); ++n)
    for (unsigned b = 0; b < fit; ++b) ASSERT_EQ(user<uint64_t>(n)[b], rounds) << n << ", " << b;
}

TEST_P(Launch, TheRecommendedGridFits) {
  const auto grid = recommended_grid(*cluster_, 0, meet);
  ASSERT_TRUE(grid) << grid.error().text;
  EXPECT_LE(grid->blocks, *blocks_at_once(*cluster_, 0, grid->threads, meet));
  for (int n = 0; n < nodes(); ++n)
    EXPECT_TRUE(launch_grid(*cluster_, n, grid->blocks, grid->threads, meet, enough(), user<uint64_t>(n), 1u));
  run();
  EXPECT_EQ(*user<uint64_t>(nodes() - 1), 1u);
}

TEST_P(Launch, ShapesThatCannotBeAreNamed) {
  const auto of_shape = blocks_at_once(*cluster_, 0, 2048, meet),
             of_node = blocks_at_once(*cluster_, nodes(), 32, meet);
  ASSERT_FALSE(of_shape);
  EXPECT_NE(of_shape.error().text.find("2048 threads"), std::string::npos) << of_shape.error().text;
  ASSERT_FALSE(of_node);
  EXPECT_EQ(of_node.error().code, errc::bad_argument);
}

}  // namespace
}  // namespace ggas::test
