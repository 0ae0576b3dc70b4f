// SPDX-License-Identifier: Apache-2.0
// Device API: reduce and allreduce by a single block, in one exchange over a bundle of channels: lengths around those
// of a slot and of the bundle, numbers of threads that differ from member to member, teams, numbers of exchanges that
// differ from channel to channel, wrap and are refreshed, members that do not arrive.
#include "tests/gpu_api/bundle_rig.hpp"

namespace ggas::test {
namespace {

class AllreduceBundle : public Bundle {
 protected:
  // As check() of the rig, with threads of its own for every member.
  template <class T>
  void check_uneven(const call& c, const ggas_team& team) {
    const auto want = fill<T>(c, team);
    for (int k = 0; k < team.size; ++k)
      on(ggas_team_node(team, k), 1, some_threads(), [=, this] { EXPECT_EQ(make_call<T>(c, team), ggas_ok); });
    run();
    expect<T>(c, team, want);
  }
  template <class T>
  void some_calls(int count) {
    for (int i = 0; i < count; ++i) {
      const ggas_team team = some_team();
      const uint64_t late = random_() % 4;
      const int root = random_() % 3 ? -1 : static_cast<int>(random_() % static_cast<unsigned>(team.size));
      const call c{.method = random_() % 4 ? ggas_one_shot : ggas_auto,
                   .op = static_cast<ggas_op>(random_() % 4),
                   .n = some_length<T>(),
                   .root = root,
                   .in_place = root < 0 && random_() % 3 == 0,
                   .shift = [late](int node) { return late * static_cast<uint64_t>(node); }};
      check_uneven<T>(c, team);
    }
  }

  void SetUp() override {
    if (simulated()) GTEST_SKIP() << "the same code, and slow";
    renew();
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, AllreduceBundle, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(AllreduceBundle, Floats) { some_calls<float>(10); }
TEST_P(AllreduceBundle, Doubles) { some_calls<double>(5); }
TEST_P(AllreduceBundle, HalfFloats) { some_calls<_Float16>(4); }
TEST_P(AllreduceBundle, Bytes) { some_calls<int8_t>(4); }

// All forms make the same bits, and take their turns on the same channels.
TEST_P(AllreduceBundle, BlocksAndGridsInTurn) {
  for (int i = 0; i < 4; ++i) {
    const call block{.n = 5 * in_slot<float>() - static_cast<size_t>(i), .threads = 96};
    call grid = block;
    grid.blocks = 1 + static_cast<unsigned>(i) % 3 * 2;
    check<float>(block);
    check<float>(grid);
    on_all(1, 64, [&] {
      float* const v = user<float>(ggas_node());
      EXPECT_EQ(ggas_alltoall_block(v + 20000, v, 100, enough()), ggas_ok);
      EXPECT_EQ(ggas_broadcast_block(v, v, 100, i % ggas_nodes(), enough()), ggas_ok);
    });
    run();
  }
}

// Channels of a bundle have separate numbers. At 2^30 slots are refreshed, and at 2^32 the numbers of lines begin again
// at 0. Each channel passes these two numbers at a different time.
TEST_P(AllreduceBundle, NumbersDifferAndWrap) {
  for (const uint64_t last : {(uint64_t{1} << 30) - 6, (uint64_t{1} << 32) - 6}) {
    for (int node = 0; node < nodes(); ++node) {
      for (uint64_t channel = 0; channel < 3; ++channel) number_of(node, channel) = last + channel;
    }
    for (int i = 0; i < 12; ++i) {  // all slots of all channels are refreshed after 2^30
      const size_t n = 3 * in_slot<float>() - static_cast<size_t>(i) * 3;
      check_uneven<float>({.n = n, .root = i % 2 ? i % nodes() : -1}, world());
    }
  }
}

// No line of a bundle grows old, also at a member that gets one line of every slot alone.
TEST_P(AllreduceBundle, SlotsAreRefreshed) {
  constexpr uint64_t period = uint64_t{1} << 30;
  for (const int root : {-1, 0}) {
    renew();
    set_numbers(period - 3);
    for (int i = 0; i < 7; ++i) check_uneven<float>({.n = 3 * in_slot<float>() - 1, .root = root}, world());
    SCOPED_TRACE(root);
    expect_refreshed(3, period);
  }
}

// The channels of a bundle fail together, and for every member who uses one of them.
TEST_P(AllreduceBundle, AMissingMemberIsATimeOutAndThenAnError) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 1, 64, [this] {
    float* const v = user<float>(0);
    EXPECT_EQ(ggas_allreduce_block(v, v, in_bundle<float>(), ggas_sum, ggas_one_shot, brief()), ggas_timed_out);
    EXPECT_EQ(ggas_allreduce_block(v, v, in_bundle<float>(), ggas_sum, ggas_one_shot, enough()), ggas_broken);
    EXPECT_EQ(ggas_allreduce_block(v, v, 1, ggas_sum, ggas_one_shot, enough()), ggas_broken);
  });
  run();
  on(0, 3, 64, [this] {
    float* const v = user<float>(0);
    EXPECT_EQ(ggas_allreduce_grid(v, v, 96, ggas_sum, ggas_one_shot, enough()), ggas_broken);
  });
  run();
}

}  // namespace
}  // namespace ggas::test
