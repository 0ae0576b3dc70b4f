// SPDX-License-Identifier: Apache-2.0
// Collectives of two blocks or streams of a node at once, and memory that overlaps: refused, and the report says why.
#include <atomic>

#include "ggas/heap.hpp"
#include "ggas/on_stream.cuh"
#include "ggas/teams.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

struct InUse : api_test {
  static constexpr uint64_t status_at = 0, data_at = 4096, copy_at = 256 * 1024;
  static constexpr size_t n = 600;

  void SetUp() override {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = 8u << 20;
    make(cfg);
  }
  float* data(uint64_t at, unsigned which = 0) const {
    return ggas_pointer_of_node<float>(ggas_node(), base() + at) + which * 2 * n;
  }
  std::string reported() { return cluster_->report()->text(); }
  bool reported_of(const std::string& what) { return reported().find(what) != std::string::npos; }
  // What every node's vectors hold, and what their sum must be.
  void fill(unsigned vectors) {
    for (int k = 0; k < nodes(); ++k)
      for (size_t i = 0; i < vectors * 2 * n; ++i) user<float>(k, data_at)[i] = static_cast<float>(k + 1);
  }
  float sum() const { return static_cast<float>(nodes() * (nodes() + 1) / 2); }
};
std::vector<target> several_nodes() {
  std::vector<target> all;
  for (const target& t : targets())
    if (t.nodes > 1 && t.nodes != 5 && t.nodes != 6) all.push_back(t);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Provider, InUse, testing::ValuesIn(several_nodes()),
                         [](const auto& i) { return i.param.name(); });

// The first one waits for the other nodes while the second one comes: it is refused, and the first one's sum is right.
TEST_P(InUse, ABlockBesideAnotherOneIsRefused) {
  fill(1);
  std::atomic<int> begun = 0, refused = 0;
  on(0, 2, 64, [&] {
    if (blockIdx.x == 0) {
      ++begun;
      EXPECT_EQ(ggas_allreduce_block(data(copy_at), data(data_at), n, ggas_sum, ggas_auto, enough()), ggas_ok);
      return;
    }
    while (begun < 64) __nanosleep(1000);
    __nanosleep(1000);
    EXPECT_EQ(ggas_allreduce_block(data(copy_at, 1), data(data_at), n, ggas_sum, ggas_auto, enough()),
              ggas_bad_argument);
    EXPECT_EQ(ggas_alltoall_block(data(copy_at, 2), data(data_at), 2, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_sync_block(enough(), ggas_world(), 3), ggas_bad_argument) << "one of the numbers it uses";
    ++refused;
  });
  for (int k = 1; k < nodes(); ++k)
    on(k, 1, 64, [&] {
      while (refused < 64) __nanosleep(1000);
      EXPECT_EQ(ggas_allreduce_block(data(copy_at), data(data_at), n, ggas_sum, ggas_auto, enough()), ggas_ok);
    });
  run();
  for (int k = 0; k < nodes(); ++k)
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(user<float>(k, copy_at)[i], sum()) << k << ", " << i;
  EXPECT_TRUE(reported_of("node 0, block 1, thread 0: ggas_sync bad argument: another block or stream of the node"))
      << reported();
}

TEST_P(InUse, ABarrierBesideAnotherOneIsRefused) {
  std::atomic<int> begun = 0, refused = 0;
  on(0, 2, 32, [&] {
    if (blockIdx.x == 0) {
      ++begun;
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
      return;
    }
    while (begun < 32) __nanosleep(1000);
    __nanosleep(1000);
    EXPECT_EQ(ggas_sync_block(enough()), ggas_bad_argument);
    ++refused;
  });
  for (int k = 1; k < nodes(); ++k)
    on(k, 1, 32, [&] {
      while (refused < 32) __nanosleep(1000);
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
    });
  run();
  EXPECT_TRUE(reported_of("ggas_sync bad argument: another block or stream")) << reported();
}

// By turns, which the program sees to, they may.
TEST_P(InUse, BlocksMayTakeTurns) {
  fill(1);
  std::vector<std::atomic<int>> turn(static_cast<size_t>(nodes()));
  on_all(3, 64, [&] {
    auto& mine = turn[static_cast<size_t>(ggas_node())];
    for (int round = 0; round < 4; ++round) {
      while (mine / 64 != static_cast<int>(blockIdx.x) + 3 * round) __nanosleep(1000);
      EXPECT_EQ(ggas_allreduce_block(data(copy_at), data(data_at), n, ggas_sum, ggas_auto, enough()), ggas_ok);
      __syncthreads();
      ++mine;
    }
  });
  run();
  EXPECT_EQ(user<float>(0, copy_at)[n - 1], sum());
}

// Either stream's call is refused, or both sums are right; with a team each both always are.
TEST_P(InUse, StreamsOfANodeNeedTeamsOfTheirOwn) {
  constexpr int rounds = 5;
  std::string why;
  const auto memory = heap::create(heap_of(*cluster_, 640 * 1024), why);
  ASSERT_TRUE(memory) << why;
  team_space space(*cluster_, *memory);
  std::vector<stream> second;
  for (int k = 0; k < nodes(); ++k) second.push_back(*cluster_->make_stream(k));
  const ggas_team other = space.make(0, 1, nodes(), why);
  ASSERT_EQ(why, "");
  for (const bool legal : {false, true}) {
    for (int round = 0; round < (simulated() ? 1 : rounds); ++round) {
      fill(2);
      for (int k = 0; k < nodes(); ++k) {
        for (unsigned which = 0; which < 2; ++which) {
          uint64_t* const status = user<uint64_t>(k, status_at) + which;
          *status = ggas_ok;
          const stream at = which == 0 ? stream(k) : second[static_cast<size_t>(k)];
          const auto queued = allreduce_on_stream(
              *cluster_, at, user<float>(k, copy_at) + which * 2 * n, user<float>(k, data_at) + which * 2 * n, n,
              which == 0 ? ggas_sum : ggas_max, {legal ? enough() : brief(), status}, {},
              legal && which == 1 ? std::optional(other) : std::nullopt);
          ASSERT_TRUE(queued) << queued.error().text;
        }
      }
      run();
      for (int k = 0; k < nodes(); ++k) {
        for (unsigned which = 0; which < 2; ++which) {
          const uint64_t status = user<uint64_t>(k, status_at)[which];
          if (legal) EXPECT_EQ(status, ggas_ok);
          if (status != ggas_ok) continue;
          const float want = which == 0 ? sum() : static_cast<float>(nodes());
          for (size_t i = 0; i < n; ++i) ASSERT_EQ(user<float>(k, copy_at)[which * 2 * n + i], want) << k << ", " << i;
        }
      }
      reset();
    }
  }
}

TEST_P(InUse, MemoryThatOverlapsIsRefused) {
  on_all(1, 64, [&] {
    const auto parts = static_cast<size_t>(ggas_nodes());
    const auto me = static_cast<size_t>(ggas_node());
    float *const a = data(data_at), *const b = data(copy_at);
    const uint64_t t = enough();
    for (const size_t count : {size_t{4}, size_t{2000}}) {
      EXPECT_EQ(ggas_alltoall_block(a, a, count, t), ggas_bad_argument) << "in place";
      EXPECT_EQ(ggas_alltoall_block(a + 1, a, count, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allgather_block(a, a + me * count + 1, count, t), ggas_bad_argument);
      EXPECT_EQ(ggas_allreduce_block(a + 1, a, count, ggas_sum, ggas_auto, t), ggas_bad_argument);
      EXPECT_EQ(ggas_reducescatter_block(a + parts * count - 1, a, count, ggas_sum, t), ggas_bad_argument);
      // In place as the rules say, and side by side.
      EXPECT_EQ(ggas_allgather_block(a, a + me * count, count, t), ggas_ok);
      EXPECT_EQ(ggas_allreduce_block(a, a, count, ggas_sum, ggas_auto, t), ggas_ok);
      EXPECT_EQ(ggas_reducescatter_block(a + me * count, a, count, ggas_sum, t), ggas_ok);
      EXPECT_EQ(ggas_alltoall_block(a + parts * count, a, count, t), ggas_ok);
      EXPECT_EQ(ggas_broadcast_block(a, a, count, 0, t), ggas_ok);
      EXPECT_EQ(ggas_gather_block(ggas_node() == 0 ? a : nullptr, a, count, 0, t), ggas_ok);
      EXPECT_EQ(ggas_scatter_block(a, ggas_node() == 0 ? a : b, count, 0, t), ggas_ok);
    }
  });
  run();
  EXPECT_TRUE(reported_of("ggas_reducescatter bad argument: src and dst overlap")) << reported();
}

}  // namespace
}  // namespace ggas::test
