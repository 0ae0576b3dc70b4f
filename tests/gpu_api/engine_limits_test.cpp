// SPDX-License-Identifier: Apache-2.0
// The SIMT engine where something goes wrong, and with as many threads as it may have.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu_api/simt/sanitizer.hpp"
#include "tests/gpu_api/engine_rig.hpp"

namespace ggas::simt {
namespace {

#ifdef GGAS_TSAN  // it follows at most 8128 threads, and slowly
constexpr unsigned many_blocks = 32;
constexpr int many_times = 2;
#else
constexpr unsigned many_blocks = 128;
constexpr int many_times = 200;
#endif

TEST(Engine, AnExceptionIsAFaultOfTheBlock) {
  const std::string fault = run({1, 64,
                                 [] {
                                   if (threadIdx.x == 40) throw std::runtime_error("no such luck");
                                 },
                                 "unlucky"});
  EXPECT_NE(fault.find("'unlucky' block 0 thread 40"), std::string::npos) << fault;
  EXPECT_NE(fault.find("no such luck"), std::string::npos) << fault;
  EXPECT_NE(run(1, 1, [] { throw 1; }).find("unknown type"), std::string::npos);
}

TEST(Engine, AStackThatIsTooSmallIsAFault) {
  launch l{1, 1, [] {
             volatile char big[32 * 1024 - 1300 * sanitizer::stack_factor];
             for (size_t i = 0; i < sizeof big; i += 64) big[i] = 1;
             uint32_t x = big[64];
             load(&x);
           }};
  l.stack_bytes = 32 * 1024 / sanitizer::stack_factor;
  EXPECT_NE(run(l).find("stack overflow"), std::string::npos);
}

TEST(Engine, BarriersOfSomeWarpsHaveNumbers) {
  EXPECT_EQ(run(1, 64, [] { sync_some(15, 64, false); }), "");
  for (const unsigned id : {0u, 16u, 1000000u}) {
    const std::string fault = run(1, 64, [=] { sync_some(id, 64, false); });
    EXPECT_NE(fault.find("barrier " + std::to_string(id)), std::string::npos) << fault;
    EXPECT_NE(fault.find("1 ... 15"), std::string::npos) << fault;
  }
}

TEST(Engine, ABarrierOnlySomeLanesReachIsStuckAndSaysWhere) {
  fixed_environment env;
  grid g({1, 32,
          [] {
            if (threadIdx.x < 16)
              __syncwarp(0xffffffffu);
            else
              __syncthreads();
          }},
         env);
  auto b = g.make_block(0);
  b->warps()[0]->step();
  EXPECT_FALSE(b->warps()[0]->runnable());
  EXPECT_TRUE(b->warps()[0]->pending().empty());
  const std::string text = b->describe();
  EXPECT_NE(text.find("lanes 0-15 in __syncwarp"), std::string::npos) << text;
  EXPECT_NE(text.find("lanes 16-31 in __syncthreads"), std::string::npos) << text;
}

TEST(Engine, AbandonedBlocksGiveTheirStacksBack) {
  fixed_environment env;
  for (int i = 0; i < many_times; ++i) {  // 200 * 1024 stacks would not fit if they were lost
    grid g({1, 1024,
            [] {
              uint32_t frame[128] = {};
              load(&frame[threadIdx.x % 128]);
            }},
           env);
    auto b = g.make_block(0);
    for (auto& w : b->warps()) w->step();
  }
}

TEST(Engine, EightThousandThreads) {
  std::vector<uint32_t> x(many_blocks * 64);
  fixed_environment env;
  grid g({many_blocks, 64,
          [&] {
            const unsigned t = blockIdx.x * 64 + threadIdx.x;
            for (unsigned i = 0; i < 20; ++i) store(&x[t], load(&x[t]) + 1);
          }},
         env);
  std::vector<std::unique_ptr<block>> blocks;  // all resident at once
  for (unsigned i = 0; i < g.blocks(); ++i) blocks.push_back(g.make_block(i));
  bool more = true;
  while (more) {
    more = false;
    for (auto& b : blocks) {
      for (auto& w : b->warps()) {
        w->step();
        for (access* a : w->pending()) {
          apply(*a);
          w->complete(*a);
        }
        more = more || !w->finished();
      }
    }
  }
  EXPECT_EQ(x, std::vector<uint32_t>(many_blocks * 64, 20));
}

TEST(Engine, ChecksLaunches) {
  auto k = [] {};
  EXPECT_EQ(grid::check({1, 1024, k}), "");
  EXPECT_NE(grid::check({1, 1025, k}).find("1025 threads"), std::string::npos);
  EXPECT_NE(grid::check({1, 0, k}).find("0 threads"), std::string::npos);
  EXPECT_NE(grid::check({0, 1, k}).find("0 blocks"), std::string::npos);
  EXPECT_NE(grid::check({1, {1 << 16, 1 << 16, 1}, k}).find("threads"), std::string::npos);
  EXPECT_NE(grid::check({1, 1, nullptr, "empty"}).find("'empty'"), std::string::npos);
}

}  // namespace
}  // namespace ggas::simt
