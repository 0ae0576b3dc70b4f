// SPDX-License-Identifier: Apache-2.0
// Device API: reducescatter by a single block, of parts that do not fit the slot of its channel: one exchange over a
// bundle of channels, like an allreduce. The same lengths, threads, teams and numbers of exchanges.
#include "tests/gpu_api/bundle_rig.hpp"

namespace ggas::test {
namespace {

class ReducescatterBundle : public Bundle {
 protected:
  // The call of all members: its arguments and the largest size of their data.
  struct parts {
    ggas_op op = ggas_sum;
    size_t n = 1;
    bool in_place = false;
    uint64_t late = 0;  // elements that the vectors of node k begin late: k times as many
  };
  static constexpr size_t most_bytes = size_t{1} << 20;  // of every member's parts
  template <class T>
  T* source(const parts& c, int node) {
    return user<T>(node, guard) + c.late * static_cast<uint64_t>(node);
  }
  template <class T>
  T* target(const parts& c, int node, int rank) {
    if (c.in_place) return source<T>(c, node) + static_cast<size_t>(rank) * c.n;
    return user<T>(node, most_bytes + 2 * guard) + c.late;
  }

  template <class T>
  std::vector<std::vector<T>> fill(const parts& c, const ggas_team& team) {
    std::vector<std::vector<T>> want(static_cast<size_t>(team.size), std::vector<T>(c.n));
    for (int k = 0; k < team.size; ++k) {
      const int node = ggas_team_node(team, k);
      T* v = source<T>(c, node);
      for (auto& part : want) {
        for (T& sum : part) {
          *v = number<T>(c.op);
          sum = k == 0 ? *v : combined(c.op, sum, *v);
          ++v;
        }
      }
      if (!c.in_place) std::fill_n(target<T>(c, node, k) - 1, c.n + 2, T{77});
    }
    return want;
  }
  template <class T>
  void check(const parts& c, const ggas_team& team) {
    ASSERT_LE(c.n * static_cast<size_t>(team.size) * sizeof(T), most_bytes);
    const auto want = fill<T>(c, team);
    for (int k = 0; k < team.size; ++k) {
      const int node = ggas_team_node(team, k);
      T *const to = target<T>(c, node, k), *const from = source<T>(c, node);
      on(node, 1, simulated() ? 64 : some_threads(),
         [=, this] { EXPECT_EQ(ggas_reducescatter_block(to, from, c.n, c.op, enough(), team), ggas_ok); });
    }
    run();
    for (int k = 0; k < team.size; ++k) {
      const T* const v = target<T>(c, ggas_team_node(team, k), k);
      for (size_t i = 0; i < c.n; ++i)
        ASSERT_EQ(v[i], want[static_cast<size_t>(k)][i]) << "member " << k << ", element " << i << " of " << c.n;
      if (c.in_place) continue;
      EXPECT_EQ(v[-1], T{77});
      EXPECT_EQ(v[c.n], T{77});
    }
  }
  template <class T>
  void some_calls(int count) {
    for (int i = 0; i < count; ++i) {
      const parts c{
          .op = static_cast<ggas_op>(random_() % 4),
          .n = std::clamp<size_t>(some_length<T>(), 1, nodes() > 4 ? 4 * in_slot<T>() + 1 : in_bundle<T>() + 9),
          .in_place = random_() % 3 == 0,
          .late = random_() % 4};
      check<T>(c, some_team());
    }
  }

  // Lines, however long the vectors are: else peers' memory would be read.
  void renew_for_lines() {
    renew();
    for (int node = 0; node < nodes(); ++node)
      const_cast<context&>(cluster_->device_context(node)).tuned.block.two_shot = tuning::any;
  }
  void SetUp() override { renew_for_lines(); }
};
// Some numbers of nodes: what is sent does not depend on them.
std::vector<target> some_targets() {
  std::vector<target> some = targets();
  std::erase_if(some, [](const target& t) { return t.nodes == 6 || t.nodes == 7 || (t.threads && t.nodes > 3); });
  return some;
}
INSTANTIATE_TEST_SUITE_P(Provider, ReducescatterBundle, testing::ValuesIn(some_targets()),
                         [](const auto& i) { return i.param.name(); });

// Each channel of the bundle has had one exchange, and the first no more.
TEST_P(ReducescatterBundle, IsOneExchange) {
  const size_t n = 3 * in_slot<float>() - 5;
  check<float>({.n = n, .late = 1}, world());
  for (int node = 0; node < nodes(); ++node)
    for (uint64_t channel = 0; channel < 4; ++channel) EXPECT_EQ(number_of(node, channel), channel < 3 ? 1u : 0u);
}

TEST_P(ReducescatterBundle, Floats) { some_calls<float>(simulated() ? 2 : 8); }
TEST_P(ReducescatterBundle, Doubles) { some_calls<double>(simulated() ? 1 : 5); }
TEST_P(ReducescatterBundle, HalfFloats) { some_calls<_Float16>(simulated() ? 1 : 4); }
TEST_P(ReducescatterBundle, Bytes) { some_calls<int8_t>(simulated() ? 1 : 4); }

// Channels have separate numbers. At 2^30 slots are refreshed, and at 2^32 the numbers of lines begin again at 0. Each
// channel passes these two numbers at a different time. Calls of other kinds alternate on the same channels.
TEST_P(ReducescatterBundle, NumbersDifferAndWrap) {
  if (simulated()) GTEST_SKIP() << "the same code, and slow";
  for (const uint64_t last : {(uint64_t{1} << 30) - 6, (uint64_t{1} << 32) - 6}) {
    for (int node = 0; node < nodes(); ++node)
      for (uint64_t channel = 0; channel < 3; ++channel) number_of(node, channel) = last + channel;
    for (int i = 0; i < 12; ++i) {
      const size_t n = 3 * in_slot<float>() - static_cast<size_t>(i) * 3;
      check<float>({.n = n}, world());
      if (i % 4 == 0) Allreduce::check<float>({.n = n});
    }
  }
}
TEST_P(ReducescatterBundle, SlotsAreRefreshed) {
  if (simulated()) GTEST_SKIP() << "the same code, and slow";
  constexpr uint64_t period = uint64_t{1} << 30;
  set_numbers(period - 3);
  for (int i = 0; i < 7; ++i) check<float>({.n = 3 * in_slot<float>() - 1}, world());
  expect_refreshed(3, period);
}

// The channels of a bundle fail together.
TEST_P(ReducescatterBundle, AMissingMemberIsATimeOutAndThenAnError) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 1, 64, [this] {
    float* const v = user<float>(0);
    const size_t n = 2 * in_slot<float>();
    EXPECT_EQ(ggas_reducescatter_block(v, v, n, ggas_sum, brief()), ggas_timed_out);
    EXPECT_EQ(ggas_reducescatter_block(v, v, n, ggas_sum, enough()), ggas_broken);
  });
  run();
  on(0, 2, 64, [this] {
    float* const v = user<float>(0);
    EXPECT_EQ(ggas_allreduce_grid(v, v, 64, ggas_sum, ggas_one_shot, enough()), ggas_broken);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
