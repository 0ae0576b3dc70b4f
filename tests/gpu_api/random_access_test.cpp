// SPDX-License-Identifier: Apache-2.0
// RandomAccess in all its variants against the same updates on one processor: no update is lost.
#include "benchmarks/plans/random_access_plan.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::bench {
namespace {

constexpr uint64_t seed = 5;

class random_access_suite : public ggas::test::api_test {
 public:
  void SetUp() override {
    cluster_config cfg = GetParam().config();
    cfg.segment_bytes = 4u << 20;
    make(cfg);
    layout_plan room(base());
    args_ = plan_updates(room, simulated() ? 8 : 11, nodes(), most_threads, seed, enough());
    room_ = room.place<char>(0);
    fill();
  }

  uint64_t* table(int node) { return reinterpret_cast<uint64_t*>(cluster_->segment(node) + args_.table); }
  void fill() {
    fill_tables(args_.split, [this](int n) { return table(n); });
  }
  uint64_t wrong() {
    return wrong_words(args_, [this](int n) { return table(n); });
  }
  void clear(const zero_area& zero) {
    for (int n = 0; n < nodes(); ++n) std::memset(cluster_->segment(n) + zero.offset, 0, zero.bytes);
  }
  outcome* outcomes(int node) { return reinterpret_cast<outcome*>(cluster_->segment(node) + args_.outcomes); }
  void expect_ok(size_t threads) {
    for (int n = 0; n < nodes(); ++n)
      for (size_t t = 0; t < threads; ++t)
        ASSERT_EQ(outcomes(n)[t].status, ggas_ok) << "node " << n << ", thread " << t;
  }
  bucket_args buckets(unsigned blocks, uint32_t depth) {
    zero_area zero;
    const bucket_args b = plan_buckets(layout_plan(room_), args_, blocks, depth, zero);
    clear(zero);
    return b;
  }

  static constexpr size_t most_threads = 2048;
  update_args args_;
  uint64_t room_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Provider, random_access_suite, testing::ValuesIn(ggas::test::targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(random_access_suite, MailboxesLoseNothing) {
  if (nodes() == 1) GTEST_SKIP() << "no mailboxes";
  zero_area zero;
  const mailbox_args m = plan_mailboxes(layout_plan(room_), args_, zero);
  clear(zero);
  const auto blocks = static_cast<unsigned>(nodes());
  on_all({blocks}, {mailbox_threads}, [m] { mailbox_updates(m); });
  run();
  expect_ok(blocks * mailbox_threads);
  EXPECT_EQ(wrong(), 0u);
}

TEST_P(random_access_suite, BucketsLoseNothing) {
  for (const uint32_t depth : {1u, bucket_depth(static_cast<uint64_t>(nodes()))}) {
    bucket_args b = buckets(2, depth);
    b.ahead = depth;
    on_all({2}, {bucket_threads}, [b] { bucket_updates(b); });
    run();
    expect_ok(2 * bucket_threads);
    EXPECT_EQ(wrong(), 0u) << "depth " << depth;
    fill();
  }
}

// With buckets of every size, as if there were more nodes.
TEST_P(random_access_suite, SmallBucketsLoseNothing) {
  if (nodes() == 1) GTEST_SKIP() << "no other owner";
  for (const uint32_t words : {32u, 4u, 1u}) {
    zero_area zero;
    many_args b = plan_many_buckets(layout_plan(room_), args_, 2, zero);
    b.words = words;
    clear(zero);
    on_all({2}, {many_threads}, [b] { many_bucket_updates(b); });
    run();
    expect_ok(2 * many_threads);
    EXPECT_EQ(wrong(), 0u) << words << " words";
    fill();
  }
}

TEST_P(random_access_suite, AtomicsLoseNothing) {
  on_all({2}, {64}, [a = args_] { atomic_updates(a); });
  run();
  expect_ok(128);
  EXPECT_EQ(wrong(), 0u);
}

// The check on the GPU finds what the check on the host finds.
TEST_P(random_access_suite, NodesCheckTheirTables) {
  bucket_args b = buckets(1, 1);
  on_all({1}, {bucket_threads}, [b] { bucket_updates(b); });
  run();
  table(nodes() - 1)[3] ^= 1;
  const auto count = [&] {
    on_all({1}, {64}, [a = args_] { count_wrong_words(a); });
    run();
    uint64_t all = 0;
    for (int n = 0; n < nodes(); ++n)
      for (int t = 0; t < 64; ++t) all += outcomes(n)[t].errors;
    return all;
  };
  EXPECT_GT(count(), args_.split.size() / 2);
  on_all({1}, {64}, [a = args_] { take_updates_back(a); });
  run();
  EXPECT_EQ(count(), 1u);
  on_all({1}, {64}, [a = args_] { fill_table(a); });
  run();
  EXPECT_EQ(count(), 0u);
}

// The reference for the rate of a GPU's memory: each makes its updates on its own words, twice is as none.
TEST_P(random_access_suite, LocalUpdatesTakeThemselvesBack) {
  for (int twice = 0; twice < 2; ++twice) {
    on_all({1}, {96}, [a = args_] { local_updates(a); });
    run();
  }
  expect_ok(96);
  for (int n = 0; n < nodes(); ++n)
    for (uint64_t i = 0; i < args_.split.words(static_cast<uint64_t>(n)); ++i)
      ASSERT_EQ(table(n)[i], args_.split.first(static_cast<uint64_t>(n)) + i);
}

// A node that takes nothing: the others say so, and none hangs.
TEST_P(random_access_suite, AStuckOwnerIsATimeOut) {
  if (nodes() == 1) GTEST_SKIP() << "no other owner";
  args_.timeout_ns = brief();
  const bucket_args b = buckets(1, 1);
  for (int n = 1; n < nodes(); ++n) on(n, {1}, {bucket_threads}, [b] { bucket_updates(b); });
  run();
  for (int n = 1; n < nodes(); ++n)
    for (unsigned t = 0; t < bucket_threads; ++t) ASSERT_EQ(outcomes(n)[t].status, ggas_timed_out);
}

// Every place belongs to one node, the owner's; no bucket may take more of the look-ahead than there is.
TEST(RandomAccessRules, SplitAndLookAhead) {
  for (uint64_t nodes = 1; nodes <= most_many_nodes; ++nodes) {
    const table_split split{9, nodes};
    uint64_t sum = 0;
    for (uint64_t n = 0; n < nodes; ++n) {
      sum += split.words(n);
      for (uint64_t i = split.first(n); i < split.first(n + 1); ++i) ASSERT_EQ(split.owner(i), n);
      ASSERT_TRUE(nodes == 1 || split.owner_of(split.foreign(n)) != n);
    }
    EXPECT_EQ(sum, split.size());
    if (nodes <= most_bucket_nodes) {
      EXPECT_LE((nodes - 1) * (bucket_ring - 1 + bucket_depth(nodes) * bucket_words), look_ahead);
    }
    if (nodes > 1) {
      EXPECT_LE(32 + (nodes - 1) * 2 * words_of_bucket(nodes), look_ahead);
    }
  }
}

}  // namespace
}  // namespace ggas::bench
