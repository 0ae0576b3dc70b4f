// SPDX-License-Identifier: Apache-2.0
// Blocks whose threads share stacks: more of them than there are stacks, all resident at once.
#include "gpu_api/simt/shared_stacks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gpu_api/simt/sanitizer.hpp"
#include "tests/gpu_api/engine_rig.hpp"

namespace ggas::simt {
namespace {

constexpr unsigned block_size = 256;
constexpr unsigned many_blocks = 3 * shared_stacks::most / block_size;

// Runs all blocks in turn, a step of each warp at a time; false: they never end.
bool run_in_turn(const std::vector<std::unique_ptr<block>>& blocks) {
  for (int turns = 0; turns < 10'000; ++turns) {
    bool more = false;
    for (const auto& b : blocks) {
      for (const auto& w : b->warps()) {
        w->step();
        for (access* a : w->pending()) {
          apply(*a);
          w->complete(*a);
        }
        more = more || !w->finished();
      }
    }
    if (!more) return true;
  }
  return false;
}

struct many {
  explicit many(std::function<void()> kernel) : all({many_blocks, block_size, std::move(kernel)}, env) {
    for (unsigned i = 0; i < many_blocks; ++i) {
      blocks.push_back(all.make_block(i));
      share_stacks(*blocks.back(), stacks);
    }
  }
  fixed_environment env;
  std::shared_ptr<shared_stacks> stacks = std::make_shared<shared_stacks>();
  grid all;
  std::vector<std::unique_ptr<block>> blocks;
};

// What a thread keeps on its stack is there after every wait, at the address it had.
TEST(SharedStacks, VariablesOutliveWaits) {
  std::vector<uint64_t> sums(many_blocks * block_size), x(sums.size());
  many m([&] {
    const unsigned t = blockIdx.x * block_size + threadIdx.x;
    uint64_t kept[40];  // not all threads have the same on their stacks
    uint64_t* volatile where = kept;
    for (unsigned i = 0; i < 40; ++i) {
      where[i] = uint64_t{t} * 1000 + i;
      if (i % 8 == t % 8) store(&x[t], load(&x[t]) + 1);
      if (i % 16 == 0) __syncthreads();
    }
    uint64_t sum = where == kept ? 0 : 1;
    for (uint64_t k : kept) sum += k;
    sums[t] = sum;
  });
  ASSERT_TRUE(run_in_turn(m.blocks));
  for (uint64_t t = 0; t < sums.size(); ++t) ASSERT_EQ(sums[t], t * 40'000 + 780) << t;
  EXPECT_EQ(x, std::vector<uint64_t>(x.size(), 5));
  EXPECT_EQ(m.stacks->stacks(), sanitizer::active ? 0 : shared_stacks::most);
}

// A thread's own variables can be read, written and changed like memory.
TEST(SharedStacks, AccessesToOwnVariables) {
  std::vector<uint64_t> found(many_blocks * block_size);
  many m([&] {
    const unsigned t = blockIdx.x * block_size + threadIdx.x;
    uint64_t mine = t, other = 7;
    store(&mine, load(&mine) * 2);
    const uint64_t before = atomic(&mine, rmw::add, uint64_t{5}, uint64_t{0}, scope::gpu);
    store(&other, uint64_t{1});
    found[t] = before == 2 * t ? load(&mine) + load(&other) : 0;
  });
  ASSERT_TRUE(run_in_turn(m.blocks));
  for (uint64_t t = 0; t < found.size(); ++t) ASSERT_EQ(found[t], 2 * t + 6) << t;
}

// An exception unwinds a stack that has moved; stacks of threads that never end are given back.
TEST(SharedStacks, ExceptionsAndAbandonedBlocks) {
  for (const bool abandoned : {false, true}) {
    many m([] {
      uint64_t x = threadIdx.x;
      __syncthreads();
      if (load(&x) == 3) throw 1;
      __syncthreads();
    });
    for (const auto& b : m.blocks)
      for (const auto& w : b->warps()) w->step();
    if (abandoned) continue;
    ASSERT_TRUE(run_in_turn(m.blocks));
    for (const auto& b : m.blocks) EXPECT_NE(b->fault().find("thread 3: exception of unknown type"), std::string::npos);
  }
}

}  // namespace
}  // namespace ggas::simt
