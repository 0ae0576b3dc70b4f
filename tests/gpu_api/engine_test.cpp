// SPDX-License-Identifier: Apache-2.0
// The threads of a block in the SIMT engine: coordinates, accesses, barriers, what warps do together, shared memory.
#include <gtest/gtest.h>

#include <vector>

#include "tests/gpu_api/engine_rig.hpp"

namespace ggas::simt {
namespace {

TEST(Engine, CoordinatesCoverTheGrid) {
  std::vector<int> hits(2 * 3 * 2 * 4 * 3 * 2);
  EXPECT_EQ(run({2, 3, 2}, {4, 3, 2},
                [&] {
                  const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
                  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
                  EXPECT_EQ(t, thread_linear());
                  ++hits[b * blockDim.count() + t];
                }),
            "");
  for (int h : hits) EXPECT_EQ(h, 1);
}

TEST(Engine, OneAccessALaneIsPendingInLaneOrder) {
  std::vector<uint32_t> memory(32);
  fixed_environment env;
  grid g({1, 32, [&] { store(&memory[threadIdx.x], threadIdx.x * 3); }}, env);
  auto b = g.make_block(0);
  warp& w = *b->warps()[0];
  ASSERT_TRUE(w.runnable());
  w.step();
  ASSERT_EQ(w.pending().size(), 32u);
  EXPECT_FALSE(w.runnable());
  for (unsigned i = 0; i < 32; ++i) {
    const access& a = *w.pending()[i];
    EXPECT_EQ(a.lane, i);
    EXPECT_EQ(a.addr, &memory[i]);
    EXPECT_EQ(a.size, 4);
  }
  w.complete(*w.pending()[5]);  // lane 5 goes on alone
  EXPECT_EQ(w.pending().size(), 31u);
  ASSERT_TRUE(w.runnable());
  w.step();
  EXPECT_EQ(w.lanes(), 31u);
  EXPECT_EQ(w.pending().size(), 31u);
  EXPECT_FALSE(w.finished());
  for (access* a : w.pending()) {
    apply(*a);
    w.complete(*a);
  }
  w.step();
  EXPECT_TRUE(w.finished());
  EXPECT_TRUE(b->finished());
  EXPECT_EQ(memory[31], 93u);
}

TEST(Engine, NewAccessesComeBehindOlderOnes) {
  uint32_t x[32] = {};
  fixed_environment env;
  grid g({1, 4,
          [&] {
            store(&x[threadIdx.x], 1u);
            store(&x[threadIdx.x + 8], 2u);
          }},
         env);
  auto b = g.make_block(0);
  warp& w = *b->warps()[0];
  w.step();
  w.complete(*w.pending()[0]);
  w.step();
  ASSERT_EQ(w.pending().size(), 4u);
  const unsigned order[] = {1, 2, 3, 0};
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(w.pending()[i]->lane, order[i]);
}

TEST(Engine, SyncwarpBringsAWarpBackTogether) {
  uint32_t x[64] = {};
  fixed_environment env;
  grid g({1, 32,
          [&] {
            for (unsigned i = 0; i < threadIdx.x % 3; ++i) load(&x[0], true);
            __syncwarp();
            store(&x[threadIdx.x], 1u);
          }},
         env);
  auto b = g.make_block(0);
  warp& w = *b->warps()[0];
  for (int i = 0; i < 2; ++i) {
    w.step();
    for (access* a : w.pending()) {
      EXPECT_EQ(a->kind, op::load);
      EXPECT_TRUE(a->poll);
      apply(*a);
      w.complete(*a);
    }
  }
  w.step();
  ASSERT_EQ(w.pending().size(), 32u);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(w.pending()[i]->lane, i);
}

TEST(Engine, BarrierSeparatesPhases) {
  std::vector<unsigned> x(256), y(256);
  EXPECT_EQ(run(1, 256,
                [&] {
                  const unsigned t = threadIdx.x;
                  for (unsigned round = 1; round <= 5; ++round) {
                    x[t] = t * round;
                    __syncthreads();
                    y[t] = x[(t + 97) % 256];
                    __syncthreads();
                    EXPECT_EQ(y[t], (t + 97) % 256 * round);
                  }
                }),
            "");
}

TEST(Engine, BarrierCountsOutThreadsThatEnded) {
  int passed = 0;
  EXPECT_EQ(run(1, 100,
                [&] {
                  if (threadIdx.x % 2) return;
                  __syncthreads();
                  ++passed;
                }),
            "");
  EXPECT_EQ(passed, 50);
}

TEST(Engine, BarrierVotes) {
  EXPECT_EQ(run(1, 70,
                [&] {
                  EXPECT_EQ(__syncthreads_count(threadIdx.x < 33), 33);
                  EXPECT_TRUE(__syncthreads_or(threadIdx.x == 69));
                  EXPECT_FALSE(__syncthreads_or(0));
                  EXPECT_TRUE(__syncthreads_and(1));
                  EXPECT_FALSE(__syncthreads_and(threadIdx.x != 3));
                }),
            "");
}

TEST(Engine, BarrierTellsOwnerOfOtherWarps) {
  fixed_environment env;
  grid g({1, 64, [] { __syncthreads(); }}, env);
  auto b = g.make_block(0);
  std::vector<unsigned> woken;
  b->on_runnable = [&](warp& w) { woken.push_back(w.index()); };
  b->warps()[0]->step();
  EXPECT_FALSE(b->warps()[0]->runnable());
  EXPECT_TRUE(b->warps()[0]->pending().empty());
  EXPECT_TRUE(woken.empty());
  b->warps()[1]->step();
  EXPECT_TRUE(b->warps()[1]->finished());
  ASSERT_EQ(woken, std::vector<unsigned>{0});
  b->warps()[0]->step();
  EXPECT_TRUE(b->finished());
}

TEST(Engine, Shuffles) {
  EXPECT_EQ(run(1, 64,
                [&] {
                  const int l = threadIdx.x % 32;
                  EXPECT_EQ(__shfl_sync(~0u, l * 2, 7), 14);
                  EXPECT_EQ(__shfl_sync(~0u, l, 1, 8), l / 8 * 8 + 1);
                  EXPECT_EQ(__shfl_up_sync(~0u, l, 3), l < 3 ? l : l - 3);
                  EXPECT_EQ(__shfl_down_sync(~0u, l, 5), l > 26 ? l : l + 5);
                  EXPECT_EQ(__shfl_xor_sync(~0u, 1.5 * l, 16), 1.5 * (l ^ 16));
                  EXPECT_EQ(__shfl_up_sync(~0u, l, 2, 4), l % 4 < 2 ? l : l - 2);
                  float sum = static_cast<float>(l);
                  for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
                  EXPECT_TRUE(l != 0 || sum == 496.0f);
                }),
            "");
}

TEST(Engine, VotesAndSubsetsOfAWarp) {
  EXPECT_EQ(run(1, 32,
                [&] {
                  const unsigned l = threadIdx.x;
                  EXPECT_EQ(__ballot_sync(~0u, l % 2), 0xaaaaaaaau);
                  EXPECT_TRUE(__any_sync(~0u, l == 31));
                  EXPECT_FALSE(__any_sync(~0u, 0));
                  EXPECT_FALSE(__all_sync(~0u, l != 31));
                  if (l < 8) {  // divergence: three groups in different collectives at once
                    EXPECT_EQ(__ballot_sync(0xffu, 1), 0xffu);
                  } else if (l < 16) {
                    EXPECT_EQ(__shfl_sync(0xff00u, l, 8 + 3), 11u);
                  } else {
                    __syncwarp(0xffff0000u);
                    __syncwarp(0xffff0000u);
                  }
                  EXPECT_EQ(__ballot_sync(~0u, 1), ~0u);
                }),
            "");
}

TEST(Engine, CollectivesCountOutLanesThatEnded) {
  int n = 0;
  EXPECT_EQ(run(1, 32,
                [&] {
                  if (threadIdx.x >= 20) return;
                  EXPECT_EQ(__ballot_sync(~0u, 1), 0xfffffu);
                  ++n;
                }),
            "");
  EXPECT_EQ(n, 20);
}

TEST(Engine, SharedMemoryBelongsToTheBlock) {
  std::vector<int> sums(3);
  EXPECT_EQ(run(3, 64,
                [&] {
                  GGAS_SHARED(int, total);
                  GGAS_SHARED_ARRAY(uint64_t, words, 64);
                  EXPECT_EQ(reinterpret_cast<uintptr_t>(words) % alignof(uint64_t), 0u);
                  if (threadIdx.x == 0) total = 0;
                  words[threadIdx.x] = threadIdx.x + blockIdx.x;
                  __syncthreads();
                  if (threadIdx.x == 0) {
                    for (int i = 0; i < 64; ++i) total += static_cast<int>(words[i]);
                  }
                  __syncthreads();
                  sums[blockIdx.x] = total;
                }),
            "");
  EXPECT_EQ(sums, (std::vector<int>{2016, 2080, 2144}));
}

TEST(Engine, Atomics) {
  uint32_t a = 0, mn = ~0u, mx = 0, bits = 0, last = 0, won = 0, lock = 0;
  uint64_t x = 0;
  std::vector<int> seen(200);
  EXPECT_EQ(run(2, 100,
                [&] {
                  const unsigned t = blockIdx.x * 100 + threadIdx.x;
                  ++seen[atomicAdd(&a, 1)];
                  atomicMin(&mn, t + 5);
                  atomicMax(&mx, t);
                  atomicOr(&bits, 1u << t % 32);
                  atomicXor(&x, uint64_t{1} << t % 64);
                  atomicExch(&last, t);
                  if (atomicCAS(&lock, 0u, t + 1) == 0) ++won;
                }),
            "");
  EXPECT_EQ(seen, std::vector<int>(200, 1));
  EXPECT_EQ(a, 200u);
  EXPECT_EQ(mn, 5u);
  EXPECT_EQ(mx, 199u);
  EXPECT_EQ(bits, ~0u);
  uint64_t expect = 0;
  for (unsigned t = 0; t < 200; ++t) expect ^= uint64_t{1} << t % 64;
  EXPECT_EQ(x, expect);
  EXPECT_EQ(won, 1u);
}

TEST(Engine, EverySizeOfLoadAndStore) {
  struct alignas(16) vec {
    uint64_t lo, hi;
  };
  uint8_t b = 1;
  uint16_t h = 2;
  float f = 3;
  double d = 4;
  vec v{5, 6};
  EXPECT_EQ(run(1, 1,
                [&] {
                  store(&b, static_cast<uint8_t>(load(&b) + 10));
                  store(&h, static_cast<uint16_t>(load(&h) + 10));
                  store(&f, load(&f) + 10);
                  store(&d, load(&d) + 10);
                  vec w = load(&v);
                  store(&v, vec{w.lo + 10, w.hi + 10});
                }),
            "");
  EXPECT_EQ(b, 11);
  EXPECT_EQ(h, 12);
  EXPECT_EQ(f, 13);
  EXPECT_EQ(d, 14);
  EXPECT_EQ(v.lo, 15u);
  EXPECT_EQ(v.hi, 16u);
}

TEST(Engine, DeclaredWorkReachesTheOwner) {
  fixed_environment env;
  grid g({1, 1,
          [] {
            GGAS_COMPUTE(1000, 64);
            __nanosleep(50);
          }},
         env);
  auto b = g.make_block(0);
  warp& w = *b->warps()[0];
  w.step();
  EXPECT_EQ(w.pending()[0]->kind, op::compute);
  EXPECT_EQ(w.pending()[0]->a, 1000u);
  EXPECT_EQ(w.pending()[0]->b, 64u);
  w.complete(*w.pending()[0]);
  w.step();
  EXPECT_EQ(w.pending()[0]->kind, op::sleep);
  EXPECT_EQ(w.pending()[0]->a, 50u);
}

}  // namespace
}  // namespace ggas::simt
