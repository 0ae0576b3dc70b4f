// SPDX-License-Identifier: Apache-2.0
// On-stream calls: what they move, order, collectives of all nodes, mixing with calls from kernels, status words.
#include "ggas/on_stream.cuh"

#include <utility>
#include <vector>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

struct OnStream : api_test {
  // Places in every segment, from base().
  static constexpr uint64_t status_at = 0, signal_at = 64, taken_at = 128, data_at = 4096, copy_at = 128 * 1024;

  stream_report report(int node) { return {enough(), user<uint64_t>(node, status_at)}; }
  stream_report brief_report(int node) { return {brief(), user<uint64_t>(node, status_at)}; }
  uint64_t status(int node) { return *user<uint64_t>(node, status_at); }
  void expect_all_ok() {
    for (int n = 0; n < nodes(); ++n) EXPECT_EQ(status(n), ggas_ok) << "node " << n;
  }
  template <class R>
  static void queued(const R& r) {
    ASSERT_TRUE(r) << r.error().text;
  }
  int next(int n) const { return (n + 1) % nodes(); }
  int before(int n) const { return (n + nodes() - 1) % nodes(); }
  static float value(int node, size_t i) { return static_cast<float>((static_cast<size_t>(node) * 31 + i * 7) % 1001); }
  void fill(uint64_t at, size_t n) {
    for (int k = 0; k < nodes(); ++k)
      for (size_t i = 0; i < n; ++i) user<float>(k, at)[i] = value(k, i);
  }
  // That every node has the sums of all; they are overwritten.
  void expect_sums(uint64_t at, size_t n, ggas_method method = ggas_auto) {
    for (size_t i = 0; i < n; ++i) {
      float sum = 0;
      for (int k = 0; k < nodes(); ++k) sum += value(k, i);
      for (int k = 0; k < nodes(); ++k)
        ASSERT_EQ(std::exchange(user<float>(k, at)[i], -1.0f), sum) << k << ", " << i << ", method " << method;
    }
  }
  template <class T>
  global_ptr<T> place(int node, uint64_t at) const {
    return {node, base() + at};
  }
};
INSTANTIATE_TEST_SUITE_P(Provider, OnStream, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.name(); });

TEST_P(OnStream, PutAndGetMoveData) {
  constexpr size_t n = 1003;
  fill(data_at, n);
  for (int k = 0; k < nodes(); ++k)
    queued(put_on_stream(*cluster_, k, place<float>(next(k), copy_at), user<float>(k, data_at), n, report(k)));
  run();
  for (int k = 0; k < nodes(); ++k)
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(user<float>(k, copy_at)[i], value(before(k), i)) << k << ", " << i;
  for (int k = 0; k < nodes(); ++k)
    queued(get_on_stream(*cluster_, k, user<float>(k, copy_at), place<float>(next(k), data_at), n, report(k)));
  run();
  for (int k = 0; k < nodes(); ++k)
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(user<float>(k, copy_at)[i], value(next(k), i)) << k << ", " << i;
  expect_all_ok();
}

// Rounds of the same calls each time, as a graph would run them. A kernel of the receiver checks the data, and only
// then its signal lets the sender continue.
TEST_P(OnStream, SignalsBringTheirData) {
  constexpr size_t n = 77;
  constexpr uint64_t rounds = 5, back_at = 192, back_taken_at = 256, wrong_at = 320;
  for (uint64_t r = 0; r < rounds; ++r) {
    for (int k = 0; k < nodes(); ++k) {
      auto& c = *cluster_;
      on(k, 1, 96, [this] {
        uint64_t* const data = ggas_pointer_of_node<uint64_t>(ggas_node(), base() + data_at);
        if (detail::thread_rank() < n)
          ggas_store(data + detail::thread_rank(), ggas_load(data + detail::thread_rank()) + 1);
      });
      queued(put_signal_on_stream(c, k, place<uint64_t>(next(k), copy_at), user<uint64_t>(k, data_at), n,
                                  place<uint64_t>(next(k), signal_at), 1, ggas_signal_add, report(k)));
      queued(signal_take_on_stream(c, k, user<uint64_t>(k, signal_at), user<uint64_t>(k, taken_at), 1, report(k)));
      on(k, 1, 96, [this] {
        const auto me = ggas_node();
        const uint64_t* const got = ggas_pointer_of_node<uint64_t>(me, base() + copy_at);
        const uint64_t want = ggas_load(ggas_pointer_of_node<uint64_t>(me, base() + taken_at));
        if (detail::thread_rank() < n && ggas_load(got + detail::thread_rank()) != want)
          ggas_store<uint64_t>(ggas_pointer_of_node<uint64_t>(me, base() + wrong_at), 1);
      });
      queued(put_signal_on_stream(c, k, place<uint64_t>(before(k), back_at), user<uint64_t>(k, data_at), 0,
                                  place<uint64_t>(before(k), back_at), 1, ggas_signal_add, report(k)));
      queued(signal_take_on_stream(c, k, user<uint64_t>(k, back_at), user<uint64_t>(k, back_taken_at), 1, report(k)));
    }
  }
  run();
  expect_all_ok();
  for (int k = 0; k < nodes(); ++k) {
    EXPECT_EQ(*user<uint64_t>(k, signal_at), rounds);
    EXPECT_EQ(*user<uint64_t>(k, taken_at), rounds);
    EXPECT_EQ(*user<uint64_t>(k, wrong_at), 0u) << "node " << k;
  }
}

TEST_P(OnStream, BarrierMakesStoresOfKernelsVisible) {
  for (int k = 0; k < nodes(); ++k) {
    on(k, 1, 1,
       [this] { ggas_store<uint64_t>(ggas_pointer_of_node<uint64_t>(next(ggas_node()), base() + data_at), 42); });
    queued(barrier_on_stream(*cluster_, k, report(k)));
    queued(get_on_stream(*cluster_, k, user<uint64_t>(k, copy_at), place<uint64_t>(k, data_at), 1, report(k)));
    queued(sync_on_stream(*cluster_, k, report(k)));
  }
  run();
  expect_all_ok();
  for (int k = 0; k < nodes(); ++k) EXPECT_EQ(*user<uint64_t>(k, copy_at), 42u);
}

// On a stream and in kernels, in turn, in one order.
TEST_P(OnStream, CollectivesMixWithThoseOfKernels) {
  for (const size_t n : {size_t{1}, size_t{33}, simulated() ? size_t{200} : size_t{3000}}) {
    fill(data_at, n);
    for (int k = 0; k < nodes(); ++k) {
      float *const in = user<float>(k, data_at), *const out = user<float>(k, copy_at);
      queued(allreduce_on_stream(*cluster_, k, out, in, n, ggas_sum, report(k)));
      on(k, 1, 64, [this, n] {
        float* const v = ggas_pointer_of_node<float>(ggas_node(), base() + copy_at);
        const ggas_status s = ggas_allreduce_block(v, v, n, ggas_max, ggas_auto, enough());
        if (s != ggas_ok) ggas_store<uint64_t>(ggas_pointer_of_node<uint64_t>(ggas_node(), base() + status_at), s);
      });
      queued(reduce_on_stream(*cluster_, k, out, out, n, ggas_sum, nodes() - 1, report(k)));
    }
    run();
    expect_all_ok();
    for (size_t i = 0; i < n; ++i) {
      float sum = 0;
      for (int k = 0; k < nodes(); ++k) sum += value(k, i);
      for (int k = 0; k < nodes(); ++k) {
        const bool root = k == nodes() - 1;
        ASSERT_EQ(user<float>(k, copy_at)[i], root ? sum * static_cast<float>(nodes()) : sum) << k << ", " << i;
      }
    }
  }
}

// Every method a grid has, with blocks and threads of the caller's, gives the same sums.
TEST_P(OnStream, TheCallerMayChooseHow) {
  const size_t n = simulated() ? 200 : 1000;
  fill(data_at, n);
  const bool memory = cluster_->device_context(0).quiet == nullptr;
  for (const ggas_method method :
       {ggas_auto, ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree}) {
    if (!memory && (method == ggas_direct || method == ggas_push)) continue;
    for (const unsigned blocks : {0u, 1u, 500u}) {
      for (int k = 0; k < nodes(); ++k) {
        queued(allreduce_on_stream(*cluster_, k, user<float>(k, copy_at), user<float>(k, data_at), n, ggas_sum,
                                   report(k), {blocks, blocks * 32, method}));
      }
      run();
      expect_all_ok();
      expect_sums(copy_at, n, method);
    }
  }
}

// A method that the grid form does not have, or a reduce.
TEST_P(OnStream, AWrongMethodIsReported) {
  for (int k = 0; k < nodes(); ++k) {
    float *const in = user<float>(k, data_at), *const out = user<float>(k, copy_at);
    queued(allreduce_on_stream(*cluster_, k, out, in, 8, ggas_sum, report(k), {2, 64, ggas_by_gather}));
  }
  run();
  for (int k = 0; k < nodes(); ++k) EXPECT_EQ(std::exchange(*user<uint64_t>(k, status_at), ggas_ok), ggas_bad_argument);
  for (int k = 0; k < nodes(); ++k) {
    float *const in = user<float>(k, data_at), *const out = user<float>(k, copy_at);
    queued(reduce_on_stream(*cluster_, k, out, in, 8, ggas_sum, 0, report(k), {1, 64, ggas_two_shot}));
    queued(reduce_on_stream(*cluster_, k, out, in, 8, ggas_sum, 0, report(k), {1, 64, ggas_tree}));
  }
  run();
  for (int k = 0; k < nodes(); ++k) EXPECT_EQ(status(k), ggas_bad_argument);
}

// So long that the table names a method for memory, which a NIC has not.
TEST_P(OnStream, ALongAllreduceWorksBehindANic) {
  if (!simulated()) GTEST_SKIP() << "no NIC";
  constexpr size_t n = 66000;
  constexpr uint64_t in_at = data_at, out_at = data_at + n * sizeof(float);
  fill(in_at, n);
  for (int k = 0; k < nodes(); ++k)
    queued(allreduce_on_stream(*cluster_, k, user<float>(k, out_at), user<float>(k, in_at), n, ggas_sum, report(k)));
  run();
  expect_all_ok();
  expect_sums(out_at, n);
}

TEST_P(OnStream, CollectivesThatMoveData) {
  const size_t n = simulated() ? 40 : 500;
  const auto all = static_cast<size_t>(nodes());
  fill(data_at, n * all);
  constexpr uint64_t gathered_at = 256 * 1024, exchanged_at = 512 * 1024;
  for (int k = 0; k < nodes(); ++k) {
    float* const in = user<float>(k, data_at);
    queued(broadcast_on_stream(*cluster_, k, user<float>(k, copy_at), in, n, nodes() - 1, report(k)));
    queued(allgather_on_stream(*cluster_, k, user<float>(k, gathered_at), in, n, report(k), {1, 32}));
    queued(alltoall_on_stream(*cluster_, k, user<float>(k, exchanged_at), in, n, report(k), {2}));
  }
  run();
  expect_all_ok();
  for (int k = 0; k < nodes(); ++k) {
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(user<float>(k, copy_at)[i], value(nodes() - 1, i)) << k;
    for (size_t i = 0; i < n * all; ++i) {
      const int from = static_cast<int>(i / n);
      ASSERT_EQ(user<float>(k, gathered_at)[i], value(from, i % n)) << k << ", " << i;
      ASSERT_EQ(user<float>(k, exchanged_at)[i], value(from, static_cast<size_t>(k) * n + i % n)) << k << ", " << i;
    }
  }
}

// The first failure stays, and waits after it end at once.
TEST_P(OnStream, AWaitThatTimesOutIsReported) {
  const uint64_t* const never = user<uint64_t>(0, signal_at);
  for (int i = 0; i < 50; ++i) queued(signal_wait_on_stream(*cluster_, 0, never, ggas_ge, 1, brief_report(0)));
  queued(signal_wait_on_stream(*cluster_, 0, nullptr, ggas_ge, 1, report(0)));
  const uint64_t begin = cluster_->now_ns();
  run();
  EXPECT_EQ(status(0), ggas_timed_out);
  EXPECT_LT(cluster_->now_ns() - begin, 25 * brief());
  // A signal that did not arrive is not taken.
  *user<uint64_t>(0, status_at) = ggas_ok;
  uint64_t* const taken = user<uint64_t>(0, taken_at);
  *taken = 5;
  queued(signal_take_on_stream(*cluster_, 0, never, taken, 1, brief_report(0)));
  run();
  EXPECT_EQ(status(0), ggas_timed_out);
  EXPECT_EQ(*taken, 5u);
}

TEST_P(OnStream, AMissingNodeEndsCollectives) {
  if (nodes() == 1) return;
  for (int k = 1; k < nodes(); ++k) {
    queued(allreduce_on_stream(*cluster_, k, user<float>(k, copy_at), user<float>(k, data_at), 8, ggas_sum,
                               brief_report(k)));
  }
  run();
  for (int k = 1; k < nodes(); ++k) EXPECT_EQ(status(k), ggas_timed_out) << "node " << k;
}

TEST_P(OnStream, BadPlacesAreReported) {
  float* const mine = user<float>(0, data_at);
  const uint64_t end = cluster_->device_context(0).segment_bytes;
  const auto refused = [](const result<>& r) { return !r && r.error().code == errc::bad_argument; };
  const auto copy = place<float>(0, copy_at);
  const auto signal_of = [&](int node) { return global_ptr<uint64_t>(node, base() + signal_at); };
  EXPECT_TRUE(refused(put_on_stream(*cluster_, 0, global_ptr<float>(0, end - 8), mine, 3, report(0))));
  for (size_t n : {size_t{1} << 62, ~size_t{0} / sizeof(float) + 2, ~size_t{0}}) {
    EXPECT_TRUE(refused(put_on_stream(*cluster_, 0, copy, mine, n, report(0)))) << n;
    EXPECT_TRUE(refused(get_on_stream(*cluster_, 0, mine, copy, n, report(0)))) << n;
    EXPECT_TRUE(refused(put_signal_on_stream(*cluster_, 0, copy, mine, n, signal_of(0), 1, ggas_signal_set, report(0))))
        << n;
  }
  float outside = 0;
  EXPECT_TRUE(refused(put_on_stream(*cluster_, 0, copy, &outside, 1, report(0))));
  EXPECT_TRUE(refused(get_on_stream(*cluster_, 0, &outside, copy, 1, report(0))));
  EXPECT_TRUE(
      refused(put_signal_on_stream(*cluster_, 0, copy, mine, 3, signal_of(nodes()), 1, ggas_signal_set, report(0))));
  run();
  EXPECT_EQ(status(0), ggas_ok);
  // Words that are taken from or counted in nowhere.
  uint64_t *const signal = user<uint64_t>(0, signal_at), *const taken = user<uint64_t>(0, taken_at);
  uint64_t* const misaligned = reinterpret_cast<uint64_t*>(user<char>(0, taken_at + 4));
  for (const auto& [from, to] :
       {std::pair<uint64_t*, uint64_t*>{signal, nullptr}, {nullptr, taken}, {signal, misaligned}}) {
    *user<uint64_t>(0, status_at) = ggas_ok;
    queued(signal_take_on_stream(*cluster_, 0, from, to, 0, report(0)));
    run();
    EXPECT_EQ(status(0), ggas_bad_argument);
  }
}

}  // namespace
}  // namespace ggas::test
