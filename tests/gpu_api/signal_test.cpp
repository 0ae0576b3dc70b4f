// SPDX-License-Identifier: Apache-2.0
// Device API: puts with a signal, waits for many flags.
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_RMA_SUITE(Signal);

int right_of(int node) { return (node + 1) % ggas_nodes(); }

constexpr uint64_t data_at = 0, word_at = 8192, copy_at = 16384;

// Data, then the word: who sees the word sees the data. Set and add, small and large, by thread, warp and block.
TEST_P(Signal, DataIsThereBehindItsSignal) {
  const uint64_t rounds = simulated() ? 2 : 30;
  on_all(1, 64, [&] {
    const int me = ggas_node(), right = right_of(me), left = (me + ggas_nodes() - 1) % ggas_nodes();
    auto* out = ggas_pointer_of_node<uint64_t>(me, base() + copy_at);
    auto* in = ggas_pointer_of_node<uint64_t>(me, base() + data_at);
    auto* there = ggas_global_pointer<uint64_t>(right, base() + data_at);
    auto* signal = ggas_pointer_of_node<uint64_t>(me, base() + word_at);
    auto* its_signal = ggas_global_pointer<uint64_t>(right, base() + word_at);
    auto* ack = ggas_pointer_of_node<uint64_t>(me, base() + word_at + 64);
    auto* its_ack = ggas_global_pointer<uint64_t>(left, base() + word_at + 64);
    uint64_t count = 0;
    for (uint64_t r = 1; r <= rounds; ++r) {
      for (size_t n : {1, 5, 100}) {
        for (ggas_signal_op op : {ggas_signal_add, ggas_signal_set}) {
          ++count;
          for (size_t i = threadIdx.x; i < n; i += 64) ggas_store(out + i, 1000 * count + i);
          const uint64_t v = op == ggas_signal_add ? 1 : count;
          __syncthreads();
          ggas_status s = ggas_ok;
          if (r % 3 == 0 && threadIdx.x == 0)
            s = ggas_put_signal_nbi(there, out, n, its_signal, v, op, enough());
          else if (r % 3 == 1 && threadIdx.x < 32)
            s = ggas_put_signal_nbi_warp(there, out, n, its_signal, v, op, enough());
          else if (r % 3 == 2)
            s = ggas_put_signal_nbi_block(there, out, n, its_signal, v, op, enough());
          EXPECT_EQ(s, ggas_ok);
          uint64_t seen = 0;
          if (threadIdx.x == 0) {
            EXPECT_EQ(ggas_signal_wait_until(signal, ggas_ge, count, &seen, enough()), ggas_ok);
            EXPECT_EQ(seen, count);
          }
          __syncthreads();
          for (size_t i = threadIdx.x; i < n; i += 64) EXPECT_EQ(ggas_load(in + i), 1000 * count + i) << n;
          __syncthreads();
          if (threadIdx.x == 0) EXPECT_EQ(ggas_put_value_nbi(its_ack, count, enough()), ggas_ok);
          ASSERT_EQ(ggas_wait_until_block(ack, ggas_eq, count, enough()), ggas_ok);
        }
      }
    }
  });
  run();
}

// Puts and stores are not ordered with each other: the queue's fence lies between.
TEST_P(Signal, AFenceOfTheQueueOrdersPutsBeforeStores) {
  const uint64_t rounds = simulated() ? 3 : 100;
  on_all(1, 1, [&] {
    const int me = ggas_node(), right = right_of(me), left = (me + ggas_nodes() - 1) % ggas_nodes();
    const ggas_queue q = ggas_queue_of(0);
    for (uint64_t r = 1; r <= rounds; ++r) {
      auto* out = ggas_pointer_of_node<uint64_t>(me, base() + copy_at);
      for (uint64_t i = 0; i < 40; ++i) ggas_store(out + i, 100 * r + i);
      EXPECT_EQ(ggas_put_nbi(ggas_global_pointer<uint64_t>(right, base() + data_at), out, 40, enough(), q), ggas_ok);
      EXPECT_EQ(ggas_fence(q, enough()), ggas_ok);
      ggas_store(ggas_global_pointer<uint64_t>(right, base() + word_at), r);
      EXPECT_EQ(ggas_wait_until(ggas_pointer_of_node<uint64_t>(me, base() + word_at), ggas_eq, r, enough()), ggas_ok);
      for (uint64_t i = 0; i < 40; i += 13)
        EXPECT_EQ(ggas_load(ggas_pointer_of_node<uint64_t>(me, base() + data_at) + i), 100 * r + i);
      ggas_store(ggas_global_pointer<uint64_t>(left, base() + word_at + 64), r);
      EXPECT_EQ(ggas_wait_until(ggas_pointer_of_node<uint64_t>(me, base() + word_at + 64), ggas_eq, r, enough()),
                ggas_ok);
    }
  });
  run();
}

TEST_P(Signal, BadSignalsAreRefused) {
  on(0, 1, 1, [&] {
    auto* here = ggas_pointer_of_node<uint64_t>(0, base());
    auto* there = ggas_global_pointer<uint64_t>(nodes() - 1, base());
    auto* misaligned = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(there) + 4);
    EXPECT_EQ(ggas_put_signal(there, here, 1, misaligned, 1, ggas_signal_set, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_signal(there, here, 1, static_cast<uint64_t*>(nullptr), 1, ggas_signal_set, enough()),
              ggas_bad_argument);
    EXPECT_EQ(ggas_put_signal(there, here, 1, there, 1, static_cast<ggas_signal_op>(2), enough()), ggas_bad_argument);
    if (nodes() > 1) {  // data and signal at different nodes
      EXPECT_EQ(ggas_put_signal(there, here, 1, here, 1, ggas_signal_set, enough()), ggas_bad_argument);
    }
    EXPECT_EQ(ggas_put_signal(there + 8, here, 1, there, 1, ggas_signal_set, enough()), ggas_ok);
    EXPECT_EQ(ggas_signal_wait_until(here + 64, ggas_eq, 9, nullptr, brief()), ggas_timed_out);
  });
  run();
}

// ------------------------------------------------------------------------------------------------ many flags

// A time-out that ends after the last moment of the timer is none.
TEST_P(Signal, LongTimesDoNotWrap) {
  if (nodes() == 1) return;
  on(0, 1, 1, [&] {
    EXPECT_EQ(ggas_wait_until(ggas_pointer_of_node<uint32_t>(0, base()), ggas_eq, 5u, ~uint64_t{0} - 1), ggas_ok);
  });
  on(nodes() - 1, 1, 1, [&] {
    const uint32_t* const nothing = ggas_pointer_of_node<uint32_t>(nodes() - 1, base() + 64);
    EXPECT_EQ(ggas_wait_until(nothing, ggas_eq, 5u, brief()), ggas_timed_out);
    ggas_store(ggas_global_pointer<uint32_t>(0, base()), 5u);
  });
  run();
}

TEST_P(Signal, AnySomeAndAllFlags) {
  const int setter = nodes() - 1;
  on(0, 1, 70, [&] {
    const auto* flags = ggas_pointer_of_node<uint32_t>(0, base());
    size_t index = 99, indices[8], count = 0;
    if (threadIdx.x == 0) {
      EXPECT_EQ(ggas_wait_until_any(flags, 8, ggas_eq, 9u, &index, brief()), ggas_timed_out);
      EXPECT_FALSE(ggas_test_all(flags, 8, ggas_eq, 5u));
      EXPECT_EQ(ggas_wait_until_any(flags, 8, ggas_eq, 5u, &index, enough()), ggas_ok);
      EXPECT_EQ(ggas_load(flags + index), 5u);  // any of the three: they are set while the flags are looked through
      EXPECT_EQ(ggas_wait_until_all(flags + 3, 3, ggas_eq, 5u, enough()), ggas_ok);
      EXPECT_EQ(ggas_wait_until_some(flags, 8, ggas_eq, 5u, indices, &count, enough()), ggas_ok);
      EXPECT_EQ(count, 3u);
      EXPECT_EQ(indices[2], 5u);
      EXPECT_TRUE(ggas_test_any(flags, 8, ggas_eq, 5u, &index));
      EXPECT_EQ(ggas_wait_until_some(flags, 8, ggas_eq, 77u, indices, &count, 0), ggas_timed_out);
      EXPECT_EQ(count, 0u);
    }
    __syncthreads();
    EXPECT_EQ(ggas_wait_until_all_block(flags + 3, 3, ggas_eq, 5u, enough()), ggas_ok);
    EXPECT_EQ(ggas_wait_until_all_block(flags, 8, ggas_eq, 5u, brief()), ggas_timed_out);
    if (threadIdx.x < 32) {
      EXPECT_EQ(ggas_wait_until_all_warp(flags + 3, 3, ggas_eq, 5u, enough()), ggas_ok);
      EXPECT_EQ(ggas_wait_until_all_warp(flags, 4, ggas_eq, 5u, brief()), ggas_timed_out);
    }
    EXPECT_EQ(ggas_wait_until_all(flags, 0, ggas_eq, 5u, brief()), ggas_bad_argument);
    EXPECT_EQ(ggas_wait_until_any(flags, 8, ggas_eq, 5u, nullptr, brief()), ggas_bad_argument);
  });
  if (setter == 0) {  // its kernels run in turn: the flags must be there before
    for (uint64_t i : {3, 4, 5}) user<uint32_t>(0)[i] = 5;
    run();
    return;
  }
  on(setter, 1, 1, [&] {
    auto* flags = ggas_global_pointer<uint32_t>(0, base());
    __nanosleep(static_cast<unsigned>(2 * brief()));
    for (uint64_t i : {3, 4, 5}) {
      EXPECT_EQ(ggas_put_value(flags + i, 5u, enough()), ggas_ok);
    }
  });
  run();
}

}  // namespace
}  // namespace ggas::test
