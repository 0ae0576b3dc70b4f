// SPDX-License-Identifier: Apache-2.0
// RandomAccess on real GPUs against the same updates on the host: no update is lost.
#include "benchmarks/plans/random_access_plan.hpp"
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

using namespace ggas::bench;

class random_access : public rig {
 protected:
  void SetUp() override {
    rig::SetUp();
    layout_plan room(at.data);
    args_ = plan_updates(room, 18, nodes(), 1, 7, timeout_ns);
    args_.outcomes = at.outcomes;
    room_ = room.place<char>(0);
    start_all(16, 256, fill_table, args_);
    run("filling");
  }

  bucket_args buckets(unsigned blocks) const {
    zero_area zero;  // a test finds zero
    bucket_args b = plan_buckets(layout_plan(room_), args_, blocks, bucket_depth(args_.split.nodes), zero);
    b.ahead = 4;
    return b;
  }
  void check(size_t threads, const char* what) {
    run(what);
    check_all_outcomes(threads, what);
    std::vector<std::vector<uint64_t>> words;
    for (int n = 0; n < nodes(); ++n)
      words.push_back(read<uint64_t>(n, args_.table, args_.split.words(static_cast<uint64_t>(n))));
    EXPECT_EQ(wrong_words(args_, [&](int n) { return words[static_cast<size_t>(n)].data(); }), 0u) << what;
  }

  update_args args_{};
  uint64_t room_ = 0;
};

TEST_F(random_access, buckets_lose_nothing) {
  constexpr unsigned blocks = 132;
  start_all(blocks, bucket_threads, bucket_updates, buckets(blocks));
  check(size_t{blocks} * bucket_threads, "buckets");
}

TEST_F(random_access, atomics_lose_nothing) {
  start_all(132, 128, atomic_updates, args_);
  check(132 * 128, "atomics");
}

TEST_F(random_access, mailboxes_lose_nothing) {
  GGAS_NEEDS_NODES(2);
  zero_area zero;
  const auto blocks = static_cast<unsigned>(nodes());
  start_all(blocks, mailbox_threads, mailbox_updates, plan_mailboxes(layout_plan(room_), args_, zero));
  check(size_t{blocks} * mailbox_threads, "mailboxes");
}

// What the benchmark verifies large tables with.
TEST_F(random_access, gpus_take_updates_back) {
  start_all(132, 128, atomic_updates, args_);
  run("atomics");
  start_all(132, 128, take_updates_back, args_);
  run("taking back");
  start_all(132, 128, count_wrong_words, args_);
  run("counting");
  check_all_outcomes(132 * 128, "counting");
}

TEST_F(random_access, stuck_owner_is_a_timeout) {
  GGAS_NEEDS_NODES(2);
  args_.timeout_ns = second / 10;
  for (int n = 1; n < nodes(); ++n) start(n, 8, bucket_threads, bucket_updates, buckets(8));
  run("nobody at node 0");
  for (int n = 1; n < nodes(); ++n) {
    for (const outcome& o : read<outcome>(n, at.outcomes, 8 * bucket_threads)) ASSERT_EQ(o.status, ggas_timed_out);
  }
}

}  // namespace
}  // namespace ggas::gpu_test
