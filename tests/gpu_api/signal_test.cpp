// SPDX-License-Identifier: Apache-2.0
// Device API: signals, notifications, atomics, waits for many flags.
#include <algorithm>
#include <set>

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
    auto* crooked = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(there) + 4);
    EXPECT_EQ(ggas_put_signal(there, here, 1, crooked, 1, ggas_signal_set, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_signal<uint64_t>(there, here, 1, nullptr, 1, ggas_signal_set, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_put_signal(there, here, 1, there, 1, static_cast<ggas_signal_op>(2), enough()), ggas_bad_argument);
    if (nodes() > 1) {  // data and signal at different nodes
      EXPECT_EQ(ggas_put_signal(there, here, 1, here, 1, ggas_signal_set, enough()), ggas_bad_argument);
    }
    EXPECT_EQ(ggas_put_signal(there + 8, here, 1, there, 1, ggas_signal_set, enough()), ggas_ok);
    EXPECT_EQ(ggas_signal_wait_until(here + 64, ggas_eq, 9, nullptr, brief()), ggas_timed_out);
  });
  run();
}

// ------------------------------------------------------------------------------------------------ notifications

// More notifications than the ring holds, data behind each; every one comes once, in order, with its cookie.
TEST_P(Signal, NotificationsCarryTheirCookies) {
  const uint64_t puts = simulated() ? 24 : 200;
  on_all(1, 32, [&] {
    const int me = ggas_node(), right = right_of(me), left = (me + ggas_nodes() - 1) % ggas_nodes();
    const ggas_queue q = ggas_queue_of(0), in = ggas_queue_of(1, ggas_exclusive);
    auto* mine = ggas_pointer_of_node<uint64_t>(me, base() + data_at);
    auto* there = ggas_global_pointer<uint64_t>(right, base() + copy_at);
    for (uint64_t i = 0; i < puts; ++i) {
      const uint64_t n = i % 3 == 2 ? 20 : i % 3;
      if (threadIdx.x < 20) ggas_store(mine + threadIdx.x, i * 100 + threadIdx.x);
      __syncwarp();
      if (n == 1 && i % 2 == 0) {
        EXPECT_EQ(ggas_put_value_notify_warp(there, i * 100, 7000 + i, 1, enough(), q), ggas_ok);
      } else if (n == 1 && i % 5 == 0) {
        if (threadIdx.x == 0) EXPECT_EQ(ggas_put_value_notify(there, i * 100, 7000 + i, 1, enough(), q), ggas_ok);
      } else if (i % 2 == 0) {
        EXPECT_EQ(ggas_put_notify_warp(there, mine, n, 7000 + i, 1, enough(), q), ggas_ok);
      } else if (threadIdx.x == 0) {
        EXPECT_EQ(ggas_put_notify(there, mine, n, 7000 + i, 1, enough(), q), ggas_ok);
      }
      __syncwarp();
      ggas_notification note{};
      ASSERT_EQ(ggas_notification_wait_warp(&note, enough(), in), ggas_ok);
      EXPECT_EQ(note.cookie, 7000 + i);
      EXPECT_EQ(note.size, n * 8);
      EXPECT_EQ(note.node, static_cast<uint32_t>(left));
      EXPECT_EQ(note.queue, q.at.vpid);
      EXPECT_EQ(note.kind, static_cast<uint32_t>(ggas_note_arrived));
      EXPECT_EQ(note.code, 0u);
      const auto* got = ggas_pointer_of_node<uint64_t>(me, base() + copy_at);
      if (threadIdx.x < n) EXPECT_EQ(ggas_load(got + threadIdx.x), i * 100 + threadIdx.x);
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
    }
  });
  run();
}

// Readers count in 32 bits, writers in 64: a ring goes on where the lower ones begin again.
TEST_P(Signal, RingsGoOnBehind32Bits) {
  if (simulated()) GTEST_SKIP() << "words of rings without a NIC";
  constexpr uint64_t before = 128, notes = 2 * before, start = (uint64_t{1} << 32) - before;
  const layout l = layout::of(static_cast<uint64_t>(nodes()), base());
  for (int n = 0; n < nodes(); ++n) {
    const auto word = [&](uint64_t offset) { return reinterpret_cast<uint64_t*>(cluster_->segment(n) + offset); };
    *word(l.direct_claimed(0)) = *word(l.direct_read(0)) = start;
    word(l.direct_words(0))[1] = word(l.direct_words(0))[2] = start;
  }
  on_all(1, 1, [&] {
    const ggas_queue q = ggas_queue_of(0);
    for (uint64_t i = 0; i < notes; ++i) {
      ASSERT_EQ(ggas_notify(right_of(ggas_node()), i, 0, enough(), q), ggas_ok);
      ggas_notification note{};
      ASSERT_EQ(ggas_notification_wait(&note, enough(), q), ggas_ok);
      ASSERT_EQ(note.cookie, i);
    }
  });
  run();
}

// The size in a record has 24 bits: it is that of the last piece.
TEST_P(Signal, ANotificationOfALongPutTellsItsLastPiece) {
  if (simulated()) GTEST_SKIP() << "takes too long";
  cluster_config cfg = GetParam().config();
  cfg.segment_bytes = 40u << 20;
  make(cfg);
  for (const uint64_t bytes : {uint64_t{8} << 20, (uint64_t{16} << 20) + 8}) {
    on(0, 1, 32, [&] {
      const char* from = ggas_pointer_of_node<char>(0, base());
      char* to = ggas_pointer_of_node<char>(nodes() - 1, base());
      EXPECT_EQ(ggas_put_notify_warp(to, from, bytes, 7, 0, enough(), ggas_queue_of(1)), ggas_ok);
    });
    on(nodes() - 1, 1, 1, [&] {
      ggas_notification note{};
      ASSERT_EQ(ggas_notification_wait(&note, enough(), ggas_queue_of(0)), ggas_ok);
      EXPECT_EQ(note.size, (bytes - 1) % (8u << 20) + 1);
      EXPECT_EQ(note.queue, 1u);
      EXPECT_EQ(note.node, 0u);
      EXPECT_EQ(note.action, detail::desc_put);
    });
    run();
  }
}

// Several blocks take notifications of one ring: each is taken once.
TEST_P(Signal, ManyTakersOfOneRing) {
  constexpr unsigned takers = 4;
  const uint64_t each = simulated() ? 5 : 40;
  std::vector<uint64_t> cookies(static_cast<size_t>(nodes()) * takers * each);
  on_all(takers, 1, [&] {
    const ggas_queue q = ggas_queue_of(2);
    for (uint64_t i = 0; i < each; ++i) {
      const uint64_t cookie = (static_cast<uint64_t>(ggas_node()) * takers + blockIdx.x) * each + i;
      EXPECT_EQ(ggas_notify(right_of(ggas_node()), cookie, 2, enough(), q), ggas_ok);
      ggas_notification note{};
      ASSERT_EQ(ggas_notification_wait(&note, enough(), q), ggas_ok);
      cookies[cookie] = note.cookie;
    }
  });
  run();
  std::sort(cookies.begin(), cookies.end());
  for (uint64_t i = 0; i < cookies.size(); ++i) ASSERT_EQ(cookies[i], i);
}

// Two readers may meet when both have something to tell a sender, and each leave it to the other. Who waits tells it
// then: else the sender takes the ring for full and the readers wait for nothing.
TEST_P(Signal, WhoWaitsTellsWhatNobodyHasTold) {
  if (simulated()) GTEST_SKIP() << "words of rings without a NIC";
  constexpr uint64_t size = uint64_t{1} << layout::direct_notify_log2;
  const layout l = layout::of(static_cast<uint64_t>(nodes()), base());
  for (int n = 0; n < nodes(); ++n) {
    const auto word = [&](uint64_t offset) { return reinterpret_cast<uint64_t*>(cluster_->segment(n) + offset); };
    *word(l.direct_claimed(0)) = word(l.direct_words(0))[1] = size;  // sent and taken: once round, and nothing told
    for (uint64_t i = 0; i < size; ++i) word(l.direct_notes(0))[2 * i + 1] = uint64_t{1} << 63;
  }
  on_all(2, 1, [&] {
    const ggas_queue q = ggas_queue_of(0);
    ggas_notification note{};
    if (blockIdx.x == 0)
      EXPECT_EQ(ggas_notify(right_of(ggas_node()), 7, 0, enough(), q), ggas_ok);
    else
      EXPECT_EQ(ggas_notification_wait(&note, enough(), q), ggas_ok);
    EXPECT_EQ(note.cookie, blockIdx.x == 0 ? 0u : 7u);
  });
  run();
}

TEST_P(Signal, SomeAndAllNotifications) {
  on_all(1, 1, [&] {
    const ggas_queue q = ggas_queue_of(3);
    ggas_notification notes[8];
    size_t taken = 99;
    EXPECT_EQ(ggas_notification_wait_some(notes, 8, &taken, 0, ggas_queue_of(0)), ggas_timed_out);  // nobody uses it
    EXPECT_EQ(taken, 0u);
    for (uint64_t i = 0; i < 7; ++i) EXPECT_EQ(ggas_notify(right_of(ggas_node()), i, 3, enough(), q), ggas_ok);
    ASSERT_EQ(ggas_notification_wait_some(notes, 2, &taken, enough(), q), ggas_ok);
    EXPECT_GE(taken, 1u);
    EXPECT_LE(taken, 2u);
    const size_t rest = 7 - taken;
    ASSERT_EQ(ggas_notification_wait_all(notes, rest, &taken, enough(), q), ggas_ok);
    EXPECT_EQ(taken, rest);
    EXPECT_EQ(notes[rest - 1].cookie, 6u);
    EXPECT_EQ(ggas_notification_wait_all(notes, 2, &taken, brief(), q), ggas_timed_out);
    EXPECT_EQ(ggas_notification_wait(notes, brief(), q), ggas_timed_out);
    EXPECT_EQ(ggas_notification_wait_all(notes, 0, &taken, brief(), q), ggas_bad_argument);
    EXPECT_EQ(ggas_notify(right_of(ggas_node()), 1, ggas_queues(), enough(), q), ggas_bad_argument);
    EXPECT_EQ(ggas_notify(nodes(), 1, 0, enough(), q), ggas_bad_argument);
  });
  run();
}

// ------------------------------------------------------------------------------------------------ atomics

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

TEST_P(Signal, EveryAtomicOfEveryType) {
  on(0, 1, 1, [&] {
    const int last = nodes() - 1;
    every_atomic(ggas_global_pointer<int32_t>(last, base() + 4), enough());
    every_atomic(ggas_global_pointer<uint32_t>(last, base() + 8), enough());
    every_atomic(ggas_global_pointer<int64_t>(last, base() + 16), enough());
    every_atomic(ggas_global_pointer<uint64_t>(last, base() + 24), enough());
    uint64_t old = 0;
    auto* crooked = reinterpret_cast<uint64_t*>(ggas_global_pointer<char>(last, base() + 4));
    EXPECT_EQ(ggas_fetch_add(crooked, uint64_t{1}, &old, enough()), ggas_bad_argument);
    EXPECT_EQ(ggas_fetch_add<uint64_t>(nullptr, 1, &old, enough()), ggas_bad_argument);
  });
  run();
  EXPECT_EQ(*user<uint32_t>(nodes() - 1, 0) + *user<uint32_t>(nodes() - 1, 12), 0u);
}

// All nodes count in one word, in every form, through several queues.
TEST_P(Signal, NoIncrementIsLostOrSeenTwice) {
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

// ------------------------------------------------------------------------------------------------ many flags

// More at once than there are records for their results: who finds none waits for one.
TEST_P(Signal, MoreFetchesThanResults) {
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
