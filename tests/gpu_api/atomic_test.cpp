// SPDX-License-Identifier: Apache-2.0
// Device API: atomics at other nodes, every one once.
#include <algorithm>
#include <set>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_RMA_SUITE(Atomic);

template <class T>
void every_atomic(T* word, uint64_t enough) {
  const auto run = [&](ggas_atomic what, T v, T compare, T before, T after) {
    T old{};
    EXPECT_EQ(ggas_atomic_fetch(what, word, v, compare, &old, enough), ggas_ok);
    EXPECT_EQ(old, before) << what;
    EXPECT_EQ(ggas_atomic_fetch(ggas_atomic_or, word, T{0}, T{}, &old, enough), ggas_ok);
    EXPECT_EQ(old, after) << what;
  };
  const T minus = static_cast<T>(-3);
  run(ggas_atomic_add, 5, 0, 0, 5);
  run(ggas_atomic_swap, 12, 0, 5, 12);
  run(ggas_atomic_cas, 9, 11, 12, 12);
  run(ggas_atomic_cas, 9, 12, 12, 9);
  run(ggas_atomic_and, 3, 0, 9, 1);
  run(ggas_atomic_or, 6, 0, 1, 7);
  run(ggas_atomic_xor, 2, 0, 7, 5);
  run(ggas_atomic_min, minus, 0, 5, std::min(minus, T{5}));
  run(ggas_atomic_max, 5, 0, std::min(minus, T{5}), 5);
  run(ggas_atomic_max, minus, 0, 5, std::max(minus, T{5}));
}

TEST_P(Atomic, EveryAtomicOfEveryType) {
  on(0, 1, 1, [&] {
    const int last = nodes() - 1;
    every_atomic(ggas_global_pointer<int32_t>(last, base() + 4), enough());
    every_atomic(ggas_global_pointer<uint32_t>(last, base() + 8), enough());
    every_atomic(ggas_global_pointer<int64_t>(last, base() + 16), enough());
    every_atomic(ggas_global_pointer<uint64_t>(last, base() + 24), enough());
    uint64_t old = 0;
    auto* misaligned = reinterpret_cast<uint64_t*>(ggas_global_pointer<char>(last, base() + 4));
    EXPECT_EQ(ggas_fetch_add(misaligned, uint64_t{1}, &old, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_fetch_add(static_cast<uint64_t*>(nullptr), 1, &old, enough()), ggas_bad_argument);
  });
  run();
  EXPECT_EQ(*user<uint32_t>(nodes() - 1, 0) + *user<uint32_t>(nodes() - 1, 12), 0u);
}

// All nodes count in one word, in every form, through several queues.
TEST_P(Atomic, NoIncrementIsLostOrSeenTwice) {
  const uint64_t each = simulated() ? 3 : 40;
  constexpr unsigned blocks = 3;
  std::vector<std::vector<uint64_t>> seen(static_cast<size_t>(nodes()));
  on_all(blocks, 32, [&] {
    auto* word = ggas_global_pointer<uint64_t>(0, base());
    for (uint64_t i = 0; i < each; ++i) {
      uint64_t old = 0;
      if (threadIdx.x < 2) {
        EXPECT_EQ(ggas_fetch_add(word, uint64_t{1}, &old, enough()), ggas_ok);
        seen[static_cast<size_t>(ggas_node())].push_back(old);
      }
      __syncwarp();
      EXPECT_EQ(ggas_atomic_fetch_warp(ggas_atomic_add, word, uint64_t{1}, uint64_t{0}, &old, enough()), ggas_ok);
      if (threadIdx.x == 0) seen[static_cast<size_t>(ggas_node())].push_back(old);
      if (threadIdx.x == 31) EXPECT_EQ(ggas_add(word + 1, uint64_t{2}, enough()), ggas_ok);
    }
    EXPECT_EQ(ggas_quiet_block(), ggas_ok);
  });
  run();
  const uint64_t total = 3 * each * blocks * static_cast<uint64_t>(nodes());
  std::set<uint64_t> all;
  for (const auto& of_node : seen) all.insert(of_node.begin(), of_node.end());
  EXPECT_EQ(*user<uint64_t>(0), total);
  EXPECT_EQ(user<uint64_t>(0)[1], 2 * total / 3);
  ASSERT_EQ(all.size(), total);
  EXPECT_EQ(*all.rbegin(), total - 1);
}

// More at once than there are records for their results: who finds none waits for one.
TEST_P(Atomic, MoreFetchesThanResults) {
  constexpr unsigned threads = 2 * layout::results;
  std::set<uint64_t> all;
  on(0, 1, threads, [&] {
    uint64_t old = 0;
    ASSERT_EQ(ggas_fetch_add(ggas_global_pointer<uint64_t>(nodes() - 1, base()), uint64_t{1}, &old, enough()), ggas_ok);
    all.insert(old);
  });
  run();
  ASSERT_EQ(all.size(), threads);
  EXPECT_EQ(*all.rbegin(), threads - 1);
}

}  // namespace
}  // namespace ggas::test
