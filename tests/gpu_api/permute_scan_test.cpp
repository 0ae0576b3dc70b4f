// SPDX-License-Identifier: Apache-2.0
// permute and scan of nodes, by a block, a grid and a team; and in a stream with gather, scatter and reducescatter.
#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "ggas/on_stream.cuh"
#include "ggas/teams.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

struct PermuteScan : api_test {
  static constexpr uint64_t from_at = 4096, to_at = 400'000;
  static constexpr size_t guard = 16;

  template <class T>
  static T value(int node, size_t i) {
    return static_cast<T>(static_cast<size_t>(node + 1) * 1009 + i * 7);
  }
  template <class T>
  void fill(size_t n) {
    for (int k = 0; k < nodes(); ++k) {
      for (size_t i = 0; i < n; ++i) user<T>(k, from_at)[i] = value<T>(k, i);
      for (size_t i = 0; i < n + guard; ++i) user<T>(k, to_at)[i] = static_cast<T>(99);
    }
  }
  template <class T>
  T* mine(uint64_t at) const {
    return ggas_pointer_of_node<T>(ggas_node(), base() + at);
  }
  // want(node, i): nothing where it was not written.
  template <class T, class Want>
  void expect(size_t n, Want want, const std::string& what) {
    for (int k = 0; k < nodes(); ++k)
      for (size_t i = 0; i < n + guard; ++i)
        ASSERT_EQ(user<T>(k, to_at)[i], i < n ? want(k, i) : static_cast<T>(99)) << what << ": " << k << ", " << i;
  }
  template <class T>
  void permute(unsigned blocks, unsigned threads, size_t n, int by) {
    fill<T>(n);
    on_all(blocks, threads, [=, this] {
      const int to = (ggas_node() + by) % ggas_nodes();
      const ggas_status s = blocks == 1 ? ggas_permute_block(mine<T>(to_at), mine<T>(from_at), n, to, enough())
                                        : ggas_permute_grid(mine<T>(to_at), mine<T>(from_at), n, to, enough());
      EXPECT_EQ(s, ggas_ok);
    });
    run();
    expect<T>(
        n, [&](int k, size_t i) { return value<T>((k + nodes() - by % nodes()) % nodes(), i); },
        "permute of " + std::to_string(n) + " by " + std::to_string(blocks));
  }
  template <class T>
  static T prefix(int last, size_t i, ggas_op op) {
    T all = value<T>(0, i);
    for (int k = 1; k < last; ++k)
      all = op == ggas_sum ? static_cast<T>(all + value<T>(k, i)) : std::max(all, value<T>(k, i));
    return all;
  }
  template <class T>
  void scan(unsigned blocks, unsigned threads, size_t n, ggas_op op, ggas_scan_kind kind) {
    fill<T>(n);
    on_all(blocks, threads, [=, this] {
      const ggas_status s = blocks == 1 ? ggas_scan_block(mine<T>(to_at), mine<T>(from_at), n, op, kind, enough())
                                        : ggas_scan_grid(mine<T>(to_at), mine<T>(from_at), n, op, kind, enough());
      EXPECT_EQ(s, ggas_ok);
    });
    run();
    expect<T>(
        n,
        [&](int k, size_t i) {
          const int last = kind == ggas_scan_inclusive ? k + 1 : k;
          return last == 0 ? static_cast<T>(99) : prefix<T>(last, i, op);
        },
        "scan of " + std::to_string(n) + " by " + std::to_string(blocks));
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, PermuteScan, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(PermuteScan, APermuteBringsEveryPart) {
  for (const unsigned blocks : {1u, 3u}) {
    for (const size_t n : {size_t{1}, size_t{5}, size_t{300}, size_t{4001}}) {
      if (simulated() && n > 300) continue;
      permute<uint32_t>(blocks, 64, n, 1);
      permute<uint8_t>(blocks, 33, n, nodes() / 2);
    }
    permute<uint64_t>(blocks, 64, 2000, 0);
  }
}

TEST_P(PermuteScan, AScanCombinesInTheOrderOfRanks) {
  for (const unsigned blocks : {1u, 3u}) {
    for (const size_t n : {size_t{1}, size_t{7}, size_t{300}, size_t{2001}}) {
      if (simulated() && n > 300) continue;
      scan<float>(blocks, 64, n, ggas_sum, ggas_scan_inclusive);
      scan<int16_t>(blocks, 40, n, ggas_max, ggas_scan_exclusive);
      scan<uint64_t>(blocks, 64, n, ggas_sum, ggas_scan_exclusive);
    }
  }
}

TEST_P(PermuteScan, WhatIsNoPermutationIsRefusedByAll) {
  if (nodes() == 1) GTEST_SKIP() << "every target of one node is itself, or none";
  for (const unsigned blocks : {1u, 3u}) {
    for (const int wrong : {0, -1, nodes()}) {
      fill<uint32_t>(900);
      on_all(blocks, 64, [=, this] {
        const auto call = [&](int to) {
          return ggas_permute(ggas::grid{}, mine<uint32_t>(to_at), mine<uint32_t>(from_at), 900, to, enough());
        };
        // The last one sends where node 0 sends, or nowhere.
        const int to = ggas_node() == nodes() - 1 ? wrong : ggas_node();
        EXPECT_EQ(call(to), ggas_bad_argument);
      });
      run();
      expect<uint32_t>(
          900, [](int, size_t) { return 99u; }, "refused");
      permute<uint32_t>(blocks, 64, 900, 1);
    }
  }
}

TEST_P(PermuteScan, BadArgumentsAreRefused) {
  on_all(1, 32, [=, this] {
    auto* const to = mine<uint32_t>(to_at);
    auto* const from = mine<uint32_t>(from_at);
    EXPECT_EQ(ggas_permute_block(to, to, 8, ggas_node(), enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_permute_block(to, from, ~size_t{0} / 8, 0, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_permute_block(reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(to) + 1), from, 8, 0, enough()),
              ggas_bad_argument);
    EXPECT_EQ(ggas_scan_block(to, from, 8, static_cast<ggas_op>(9), ggas_scan_inclusive, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_scan_block(to, from, 8, ggas_sum, static_cast<ggas_scan_kind>(7), enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_scan_block(to, to + 1, 8, ggas_sum, ggas_scan_inclusive, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_scan_block(to, from, 0, ggas_sum, ggas_scan_inclusive, enough()), ggas_ok);
    EXPECT_EQ(ggas_permute_block(to, from, 0, 0, enough()), ggas_ok);
  });
  run();
}

TEST_P(PermuteScan, AMemberThatStaysAwayIsATimeOut) {
  if (nodes() == 1) return;
  for (int k = 1; k < nodes(); ++k)
    on(k, 1, 32, [=, this] {
      const ggas_status s = ggas_permute_block(mine<uint32_t>(to_at), mine<uint32_t>(from_at), 8, ggas_node(), brief());
      EXPECT_EQ(s, ggas_timed_out);
      EXPECT_EQ(
          ggas_scan_block(mine<uint32_t>(to_at), mine<uint32_t>(from_at), 8, ggas_sum, ggas_scan_inclusive, enough()),
          ggas_broken);
    });
  run();
  reset();
  scan<uint32_t>(1, 32, 8, ggas_sum, ggas_scan_inclusive);
}

// ------------------------------------------------------------------------------------------------ in a stream

struct Queued : PermuteScan {
  stream_report report(int node) { return {enough(), user<uint64_t>(node)}; }
  template <class R>
  static void queued(const R& r) {
    ASSERT_TRUE(r) << r.error().text;
  }
  // Five calls of a node's stream, each to a place of its own.
  void queue(int node, const stream& s, size_t n, uint64_t shift, const stream_team& team, int rank, int size) {
    const auto place = [&](int i) { return user<uint32_t>(node, to_at + shift + static_cast<uint64_t>(i) * 32768); };
    const auto* const from = user<uint32_t>(node, from_at);
    const int root = size - 1;
    queued(gather_on_stream(*cluster_, s, place(0), from, n, root, report(node), {}, team));
    queued(scatter_on_stream(*cluster_, s, place(1), from, n, root, report(node), {}, team));
    queued(permute_on_stream(*cluster_, s, place(2), from, n, (rank + 1) % size, report(node), {}, team));
    queued(reducescatter_on_stream(*cluster_, s, place(3), from, n, ggas_sum, report(node), {1, 32}, team));
    queued(scan_on_stream(*cluster_, s, place(4), from, n, ggas_sum, ggas_scan_inclusive, report(node), {2}, team));
  }
  void expect_results(int node, size_t n, uint64_t shift, const std::vector<int>& members, int rank) {
    const auto place = [&](int i) { return user<uint32_t>(node, to_at + shift + static_cast<uint64_t>(i) * 32768); };
    const int size = static_cast<int>(members.size()), root = size - 1;
    const auto of = [&](int r, size_t i) { return value<uint32_t>(members[static_cast<size_t>(r)], i); };
    for (size_t i = 0; i < n * static_cast<size_t>(size) && rank == root; ++i)
      ASSERT_EQ(place(0)[i], of(static_cast<int>(i / n), i % n)) << node << ", " << i;
    const size_t part = static_cast<size_t>(rank) * n;
    for (size_t i = 0; i < n; ++i) {
      uint32_t sum = 0, before = 0;
      for (int r = 0; r < size; ++r) sum += of(r, part + i);
      for (int r = 0; r <= rank; ++r) before += of(r, i);
      ASSERT_EQ(place(1)[i], of(root, part + i)) << node << ", " << i;
      ASSERT_EQ(place(2)[i], of((rank + size - 1) % size, i)) << node << ", " << i;
      ASSERT_EQ(place(3)[i], sum) << node << ", " << i;
      ASSERT_EQ(place(4)[i], before) << node << ", " << i;
    }
    EXPECT_EQ(*user<uint64_t>(node), ggas_ok);
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, Queued, testing::ValuesIn(targets()), [](const auto& i) { return i.param.name(); });

TEST_P(Queued, CallsInAStreamMoveWhatTheirKernelsMove) {
  const size_t n = simulated() ? 60 : 700;
  fill<uint32_t>(n * static_cast<size_t>(nodes()));
  std::vector<int> all;
  for (int k = 0; k < nodes(); ++k) all.push_back(k);
  for (int k = 0; k < nodes(); ++k) queue(k, k, n, 0, {}, k, nodes());
  run();
  for (int k = 0; k < nodes(); ++k) expect_results(k, n, 0, all, k);
}

// Two streams of a node, each with a team of its own, at the same time.
TEST_P(Queued, TwoStreamsWithTwoTeamsRunSideBySide) {
  if (simulated()) GTEST_SKIP() << "its segments have no room for the teams";
  constexpr size_t n = 200;
  cluster_config cfg = GetParam().config();
  cfg.segment_bytes = 8u << 20;
  make(cfg);
  std::string why;
  auto memory = heap::create(heap_of(*cluster_, 1 << 20), why);
  ASSERT_TRUE(memory) << why;
  team_space space(*cluster_, *memory);
  const ggas_team one = space.make(0, 1, nodes(), why), other = space.make(0, 1, nodes(), why);
  ASSERT_EQ(why, "");
  fill<uint32_t>(n * static_cast<size_t>(nodes()));
  std::vector<int> all;
  for (int k = 0; k < nodes(); ++k) all.push_back(k);
  std::vector<stream> second;
  for (int k = 0; k < nodes(); ++k) second.push_back(*cluster_->make_stream(k));
  for (unsigned round = 0; round < 20; ++round) {
    for (int k = 0; k < nodes(); ++k) {
      queue(k, k, n, 0, one, k, nodes());
      queue(k, second[static_cast<size_t>(k)], n, 200'000, other, k, nodes());
    }
    run();
    for (int k = 0; k < nodes(); ++k) {
      expect_results(k, n, 0, all, k);
      expect_results(k, n, 200'000, all, k);
    }
  }
}

TEST_P(Queued, OverlapIsAnErrorAtOnce) {
  auto* const at = user<uint32_t>(0, to_at);
  const auto refused = [](const result<>& r) { return !r && r.error().code == errc::bad_argument; };
  EXPECT_TRUE(refused(permute_on_stream(*cluster_, 0, at, at + 1, 8, 0, report(0))));
  EXPECT_TRUE(refused(scan_on_stream(*cluster_, 0, at, at + 1, 8, ggas_sum, ggas_scan_inclusive, report(0))));
  EXPECT_TRUE(refused(gather_on_stream(*cluster_, 0, at + 1, at, 8, 0, report(0))));
  EXPECT_TRUE(refused(scatter_on_stream(*cluster_, 0, at + 1, at, 8, 0, report(0))));
  EXPECT_TRUE(refused(reducescatter_on_stream(*cluster_, 0, at + 1, at, 8, ggas_sum, report(0))));
}

// ------------------------------------------------------------------------------------------------ checked mode

TEST(PermuteScanChecked, AScanOfAnotherKindIsRefusedAndNamed) {
  setenv("GGAS_CHECKED", "1", 1);
  auto c = cluster::create(target{.nodes = 3}.config());
  unsetenv("GGAS_CHECKED");
  ASSERT_TRUE(c);
  for (int n = 0; n < 3; ++n)
    ASSERT_TRUE((*c)->launch(n, 1, 32, [] {
      const auto at = [](uint64_t offset) {
        return ggas_pointer_of_node<int>(ggas_node(), ggas_reserved_bytes() + offset);
      };
      const auto kind = ggas_node() == 1 ? ggas_scan_exclusive : ggas_scan_inclusive;
      EXPECT_EQ(ggas_scan_block(at(0), at(4096), 8, ggas_sum, kind, 60'000'000'000), ggas_bad_argument);
      EXPECT_EQ(ggas_permute_block(at(0), at(4096), 8, ggas_node(), 60'000'000'000), ggas_ok);
    }));
  ASSERT_TRUE((*c)->run(60'000'000'000));
  const std::string text = (*c)->report()->text();
  EXPECT_NE(text.find("but by node 1 as ggas_scan(n 8, 4 bytes with sign, ggas_sum, exclusive"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace ggas::test
