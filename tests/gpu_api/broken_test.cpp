// SPDX-License-Identifier: Apache-2.0
// Device API: what a barrier or collective that failed leaves over, a reset, and the end of waits by the host.
#include <thread>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

class Broken : public api_test {
 public:
  float* vector(size_t place = 0) { return user<float>(ggas_node(), 4096 + place * 65536); }

  // Everything that was broken works, and what lies after the reserved area has stayed.
  void expect_all_works() {
    for (int n = 0; n < nodes(); ++n) *user<uint64_t>(n) = 77;
    reset();
    for (int n = 0; n < nodes(); ++n) EXPECT_EQ(*user<uint64_t>(n), 77u);
    on_all(1, 64, [this] {
      const auto all = static_cast<float>(nodes());
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
        EXPECT_EQ(ggas_sync_block(enough()), ggas_ok);
        for (const ggas_method m : {ggas_one_shot, ggas_by_all_gather, ggas_by_gather, ggas_tree}) {
          ggas_store(vector() + threadIdx.x, 1.0f);
          __syncthreads();
          EXPECT_EQ(ggas_allreduce_block(vector(1), vector(), 64, ggas_sum, m, enough()), ggas_ok);
          EXPECT_EQ(ggas_load(vector(1) + threadIdx.x), all);
          __syncthreads();
        }
        EXPECT_EQ(ggas_alltoall_block(vector(2), vector(), 64 / static_cast<size_t>(nodes()), enough()), ggas_ok);
        EXPECT_EQ(ggas_broadcast_block(vector(2), vector(), 64, 0, enough()), ggas_ok);
      }
    });
    on_all(3, 64, [this] {
      EXPECT_EQ(ggas_barrier_grid(enough()), ggas_ok);
      EXPECT_EQ(ggas_allreduce_grid(vector(1), vector(), 96, ggas_sum, ggas_auto, enough()), ggas_ok);
    });
    run();
  }

  // Calls of every member that wait for others: by number.
  static constexpr int kinds = 9;
  ggas_status make(int kind, uint64_t t) {
    const auto part = size_t{2000} / static_cast<size_t>(nodes());
    switch (kind) {
      case 0:
        return ggas_barrier_block(t);
      case 1:
        return ggas_sync_block(t, ggas_team_strided(2, 0, 1, nodes()));
      case 2:
        return ggas_barrier_grid(t);
      case 3:
        return ggas_allreduce_block(vector(1), vector(), 10, ggas_sum, ggas_auto, t);
      case 4:
        return ggas_allreduce_block(vector(1), vector(), 2000, ggas_sum, ggas_two_shot, t);
      case 5:
        return ggas_reduce_block(vector(1), vector(), 10, ggas_sum, 0, ggas_by_gather, t);
      case 6:
        return ggas_alltoall_block(vector(1), vector(), part, t);
      case 7:
        return ggas_allgather_block(vector(1), vector(), 5, t);
      default:
        return ggas_broadcast_block(vector(1), vector(), 2000, nodes() - 1, t);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, Broken, testing::ValuesIn(targets()), [](const auto& i) { return i.param.name(); });

// Every caller counts its calls before it makes one: ok promises that every member has come to that one.
class callers {
 public:
  explicit callers(size_t count) : calls_(count) {}
  // A call of caller `me`; what it returned.
  template <class Call>
  ggas_status operator()(size_t me, Call call) {
    const unsigned mine = threadIdx.x == 0 ? ++calls_[me] : 0;
    const ggas_status s = call();
    for (size_t i = 0; threadIdx.x == 0 && s == ggas_ok && i < calls_.size(); ++i)
      EXPECT_GE(calls_[i], mine) << "caller " << me << " passed without " << i;
    return s;
  }

 private:
  std::vector<std::atomic<unsigned>> calls_;
};

TEST_P(Broken, RepeatsDoNotPassWithoutALateBlock) {
  callers all(static_cast<size_t>(nodes()) * 3);
  on_all(3, 32, [&] {
    const size_t me = static_cast<size_t>(ggas_node()) * 3 + blockIdx.x;
    if (blockIdx.x == 2) __nanosleep(static_cast<unsigned>(brief() / 4));
    for (int i = 0; i < 8; ++i) static_cast<void>(all(me, [&] { return ggas_barrier_grid(brief() / 20); }));
  });
  run();
}

// As blocks that have no room: they begin when those that wait for them have gone.
TEST_P(Broken, AGridThatFitsDoesNotPassBehindOneThatDidNot) {
  std::vector<std::atomic<unsigned>> gone(static_cast<size_t>(nodes()));
  on_all(4, 32, [&] {
    auto& left = gone[static_cast<size_t>(ggas_node())];
    while (blockIdx.x == 3 && left < 3 * 32) __nanosleep(1000);
    EXPECT_NE(ggas_barrier_grid(brief() / 20), ggas_ok);
    ++left;
  });
  run();
  callers all(static_cast<size_t>(nodes()) * 4);
  on_all(4, 32, [&] {
    if (blockIdx.x == 3) __nanosleep(static_cast<unsigned>(brief() / 20));
    static_cast<void>(
        all(static_cast<size_t>(ggas_node()) * 4 + blockIdx.x, [&] { return ggas_barrier_grid(brief()); }));
  });
  run();
}

TEST_P(Broken, ANodeDoesNotPassWithoutOneThatTimedOutBesideIt) {
  if (nodes() < 3) GTEST_SKIP() << "needs three nodes";
  callers all(static_cast<size_t>(nodes()));
  const auto call = [&](uint64_t timeout) {
    return all(static_cast<size_t>(ggas_node()), [&] { return ggas_barrier_block(timeout); });
  };
  const int late = nodes() - 1;
  for (int n = 0; n < late; ++n) on(n, 1, 32, [&] { EXPECT_EQ(call(brief() / 20), ggas_timed_out); });
  run();
  on(late, 1, 32, [&] { EXPECT_EQ(call(brief()), ggas_ok) << "everybody had come"; });
  run();
  for (int n = 0; n <= late; ++n) {
    on(n, 1, 32, [&] { static_cast<void>(call(brief() / 20)); });
    run();
  }
}

// Whatever fails, everything is refused, and works after a reset.
TEST_P(Broken, AResetRepairsWhatAnyCallLeftBehind) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  for (int kind = 0; kind < kinds; ++kind) {
    const unsigned blocks = kind == 2 ? 3 : 1;
    for (const auto want : {ggas_timed_out, ggas_broken}) {
      on(0, blocks, 64, [=, this] { EXPECT_EQ(make(kind, brief() / 10), want) << "kind " << kind; });
      run();
    }
    on(0, 1, 64, [this] {
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_broken);
      EXPECT_EQ(ggas_sync_block(enough(), ggas_team_strided(1, 0, 1, nodes())), ggas_broken);
      EXPECT_EQ(ggas_allreduce_block(vector(1), vector(), 10, ggas_sum, ggas_by_all_gather, enough()), ggas_broken);
    });
    on(0, 3, 64, [this] {
      EXPECT_EQ(ggas_sync_grid(enough()), ggas_broken);
      EXPECT_EQ(ggas_allreduce_grid(vector(1), vector(), 96, ggas_sum, ggas_one_shot, enough()), ggas_broken);
    });
    run();
    expect_all_works();
  }
}

// Kernels that are stopped in the middle have marked nothing.
TEST_P(Broken, AResetRepairsWhatStoppedKernelsLeftBehind) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  for (const int kind : {0, 2, 3, 6}) {
    for (int n = 1; n < nodes(); ++n)
      on(n, kind == 2 ? 3 : 1, 64, [=, this] { static_cast<void>(make(kind, GGAS_FOREVER)); });
    const auto ran = cluster_->run(brief());
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, errc::timed_out);
    expect_all_works();
  }
}

// On a broken node no one waits for blocks that do not come any more.
TEST_P(Broken, BlockZeroDoesNotWaitForBlocksThatLeft) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 1, 32, [this] { EXPECT_EQ(ggas_barrier_block(brief() / 10), ggas_timed_out); });
  run();
  on(0, 3, 32, [] {
    if (blockIdx.x == 0) {
      EXPECT_EQ(ggas_barrier_grid(GGAS_FOREVER), ggas_broken);
    }
  });
  run();
}

// A block that fails does not make block 0 of its grid wait for it.
TEST_P(Broken, ABlockThatFailedRefuses) {
  if (nodes() == 1) GTEST_SKIP() << "one node never waits";
  on(0, 3, 32, [this] {
    if (blockIdx.x == 2) {
      EXPECT_EQ(ggas_allreduce_block(vector(1), vector(), 10, ggas_sum, ggas_one_shot, brief() / 10), ggas_timed_out);
    }
    EXPECT_EQ(ggas_barrier_grid(GGAS_FOREVER), ggas_broken);
  });
  run();
}

TEST_P(Broken, TheHostEndsEveryWait) {
  std::atomic<int> waiting = 0;
  const auto wait = [&](int node, unsigned blocks, auto call) {
    on(node, blocks, 64, [&, call] {
      ++waiting;
      EXPECT_EQ(call(), ggas_aborted);
    });
  };
  std::vector<std::function<ggas_status()>> calls = {
      [this] { return ggas_wait_until(vector(), ggas_eq, 5.0f, GGAS_FOREVER); },
      [this] { return ggas_wait_until_block(vector(), ggas_eq, 5.0f, enough()); },
      [this] { return ggas_wait_until_warp(vector(), ggas_eq, 5.0f, GGAS_FOREVER); },
      [this] { return ggas_wait_until_all_warp(vector(), 40, ggas_eq, 5.0f, GGAS_FOREVER); },
      [this] {
        size_t index = 0;
        return ggas_wait_until_any(vector(), 40, ggas_eq, 5.0f, &index, GGAS_FOREVER);
      },
      [this] { return ggas_signal_wait_until(user<uint64_t>(ggas_node()), ggas_ge, 5, nullptr, GGAS_FOREVER); },
      [this] {
        return ggas_take_tagged_block(vector(1), reinterpret_cast<ggas_tagged*>(vector(2)), 40, 9, GGAS_FOREVER);
      },
      [] {
        ggas_notification note{};
        return ggas_notification_wait(&note, GGAS_FOREVER, ggas_default_queue());
      }};
  for (int kind = 0; kind < kinds && nodes() > 1; ++kind)
    calls.push_back([=, this] { return make(kind, GGAS_FOREVER); });
  for (size_t i = 0; i < calls.size(); ++i) {
    waiting = 0;
    const bool collective = i >= 8;
    for (int n = 0; n < nodes(); ++n)
      if (!collective || n == 0) wait(n, i == 8 + 2 ? 3 : 1, calls[i]);
    const std::jthread host([&] {
      while (waiting == 0) std::this_thread::yield();
      static_cast<void>(cluster_->abort());
    });
    run();
    reset();
  }
  expect_all_works();
}

}  // namespace
}  // namespace ggas::test
