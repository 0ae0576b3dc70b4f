// SPDX-License-Identifier: Apache-2.0
// Device API: sequences of reduce and allreduce: slots that are used again, teams in turn, a call after a failed one,
// numbers of exchanges that wrap.
#include "tests/gpu_api/allreduce_rig.hpp"

namespace ggas::test {
namespace {

// Calls that follow each other in one kernel, the same on every node.
struct random_calls {
  static constexpr size_t most = 500;  // elements
  uint32_t state = 7;
  size_t n = 0, from = 0;
  ggas_method method = ggas_one_shot;
  ggas_op op = ggas_sum;
  int root = -1;

  void next(const std::vector<ggas_method>& methods, int nodes, size_t longest) {
    state = state * 1664525 + 1013904223;
    n = 1 + state / 4096 % longest;
    from = state / 64 % most;
    method = methods[state / 256 % methods.size()];
    op = static_cast<ggas_op>(state / 1024 % 3);
    const bool to_root = state >> 31 && method != ggas_two_shot && method != ggas_push;
    root = to_root ? static_cast<int>(state / 16 % static_cast<unsigned>(nodes)) : -1;
  }
};

// Slots are used again while slower members still read theirs: two blocks make many calls of all kinds one after the
// other; sometimes a block is late.
TEST_P(Allreduce, ManyCallsWithDelays) {
  constexpr size_t most = random_calls::most;
  const int rounds = simulated() ? 6 : 150;
  const size_t longest = simulated() ? 40 : most;
  const auto all = methods();
  for (int node = 0; node < nodes(); ++node) {
    for (size_t i = 0; i < 2 * most; ++i) user<float>(node)[i] = static_cast<float>(node + 1) * static_cast<float>(i);
    std::fill_n(user<float>(node, out_offset), most * static_cast<size_t>(rounds), 77.0f);
  }
  on_all(2, 32, [&] {
    random_calls c;
    const int n = ggas_nodes(), me = ggas_node();
    uint32_t late = 1 + static_cast<uint32_t>(me) * 31 + blockIdx.x;
    for (int r = 0; r < rounds; ++r) {
      c.next(all, n, longest);
      late = late * 1664525 + 1013904223;
      if (late >> 29 == 0) __nanosleep(late / 65536 % 20000);
      const float* const src = user<float>(me) + c.from;
      float* const dst = user<float>(me, out_offset) + static_cast<size_t>(r) * most;
      const ggas_status s = c.root < 0 ? ggas_allreduce_grid(dst, src, c.n, c.op, c.method, enough())
                                       : ggas_reduce_grid(dst, src, c.n, c.op, c.root, c.method, enough());
      ASSERT_EQ(s, ggas_ok) << "round " << r << " method " << c.method;
    }
  });
  run();
  random_calls c;
  for (int r = 0; r < rounds; ++r) {
    c.next(all, nodes(), longest);
    const int times = c.op == ggas_sum ? nodes() * (nodes() + 1) / 2 : c.op == ggas_min ? 1 : nodes();
    for (int node = 0; node < nodes(); ++node) {
      const bool gets = c.root < 0 || c.root == node;
      const float* const dst = user<float>(node, out_offset) + static_cast<size_t>(r) * most;
      for (size_t i = 0; i < most; ++i) {
        const float want = gets && i < c.n ? static_cast<float>(times) * static_cast<float>(c.from + i) : 77.0f;
        ASSERT_EQ(dst[i], want) << "round " << r << " node " << node << " element " << i << " method " << c.method;
      }
    }
  }
}

// Disjoint teams of one id at the same time, and teams that share nodes in turn.
TEST_P(Allreduce, Teams) {
  if (nodes() < 3) GTEST_SKIP() << "three nodes make teams that are worth it";
  const int odd = nodes() / 2, even = nodes() - odd;
  for (ggas_method method : methods()) {
    const call c{.method = method, .n = 77, .blocks = 2, .threads = 32};
    const ggas_team teams[] = {{0, 2, even, 1}, {1, 2, odd, 1}, {1, 1, nodes() - 1, 2}};
    const auto evens = fill<float>(c, teams[0]), odds = fill<float>(c, teams[1]);
    on_all(2, 32, [=, this] {
      const ggas_team mine = teams[ggas_node() % 2];
      EXPECT_EQ(make_call<float>(c, mine), ggas_ok);
    });
    run();
    expect<float>(c, teams[0], evens);
    expect<float>(c, teams[1], odds);
    for (int r = 0; r < 6; ++r) {
      check<float>(c);
      check<float>(c, teams[2]);
      check<double>({.method = method, .n = 9, .root = to_all_only(method) ? -1 : 1}, teams[2]);
    }
  }
}

TEST_P(Allreduce, AMissingMemberIsATimeOutAndThenAnError) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  for (ggas_method method : methods()) {
    if (method != methods().front()) make(GetParam().config());
    on(0, 2, 64, [=, this] {
      float* const v = user<float>(0);
      EXPECT_EQ(ggas_allreduce_grid(v, v, 1000, ggas_sum, method, brief()), ggas_timed_out);
    });
    run();
    on(0, 2, 64, [=, this] {
      float* const v = user<float>(0);
      EXPECT_EQ(ggas_allreduce_grid(v, v, 1000, ggas_sum, method, enough()), ggas_broken);
      EXPECT_EQ(ggas_reduce_grid(v, v, 1000, ggas_sum, 0, ggas_one_shot, enough()), ggas_broken);
      const ggas_team other{0, 1, nodes(), 3};  // its channels have not failed, the node has
      EXPECT_EQ(ggas_allreduce_grid(v, v, 1000, ggas_sum, method, enough(), other), ggas_broken);
    });
    run();
  }
}

// The number of an exchange passes 2^30, where slots are refreshed, and 2^32, where lines begin again at 0.
TEST_P(Allreduce, NumbersOfExchangesWrap) {
  if (simulated()) GTEST_SKIP() << "the same code, and slow";
  for (uint64_t last : {(uint64_t{1} << 30) - 7, (uint64_t{1} << 32) - 7, (uint64_t{5} << 32) - 2}) {
    set_numbers(last);
    for (int i = 0; i < 5; ++i) {
      for (ggas_method method : methods()) {
        check<float>({.method = method, .n = 7, .threads = 32});
        check<float>({.method = method, .n = slot_elements<float>() * 2, .blocks = 2, .threads = 32});
      }
    }
  }
}

// A line is written at least once in 2^30 exchanges, so none is left that could look new 2^32 exchanges later.
TEST_P(Allreduce, SlotsAreRefreshed) {
  if (simulated()) GTEST_SKIP() << "the same code, and slow";
  constexpr uint64_t period = uint64_t{1} << 30;
  for (ggas_method method : {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree}) {
    set_numbers(period - 3);
    on_all(1, 32, [=, this] {
      float* const v = user<float>(ggas_node());
      for (int i = 0; i < 12; ++i) ASSERT_EQ(ggas_allreduce_block(v, v, 1, ggas_max, method, enough()), ggas_ok);
    });
    run();
    const layout l = shape();
    for (int node = 0; node < nodes(); ++node) {
      for (int from = 0; from < nodes(); ++from) {
        for (uint64_t turn = 0; turn < layout::channel_depth && from != node; ++turn) {
          const uint64_t slot = l.channel_slot(0, 0, turn, static_cast<uint64_t>(from));
          const auto* const words = reinterpret_cast<const uint32_t*>(cluster_->segment(node) + slot);
          for (uint64_t i = 0; i < l.channel_bytes / 4; i += 4) {
            ASSERT_GE(words[i + 1], period) << "line " << i / 4 << " from " << from << " to " << node;
            ASSERT_EQ(words[i + 1], words[i + 3]);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ggas::test
