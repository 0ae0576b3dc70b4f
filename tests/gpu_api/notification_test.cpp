// SPDX-License-Identifier: Apache-2.0
// Device API: notifications, whole rings of them, and who takes them.
#include <algorithm>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_RMA_SUITE(Notification);

constexpr uint64_t data_at = 0, copy_at = 16384;

// More notifications than the ring holds, data after each; every one comes once, in order, with its cookie.
TEST_P(Notification, NotificationsCarryTheirCookies) {
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
      EXPECT_EQ(note.action == detail::desc_notify, n == 0);
      const auto* got = ggas_pointer_of_node<uint64_t>(me, base() + copy_at);
      if (threadIdx.x < n) EXPECT_EQ(ggas_load(got + threadIdx.x), i * 100 + threadIdx.x);
      EXPECT_EQ(ggas_barrier_block(enough()), ggas_ok);
    }
  });
  run();
}

// The size in a record has 24 bits and belongs to the last piece.
TEST_P(Notification, ANotificationOfALongPutTellsItsLastPiece) {
  if (simulated()) GTEST_SKIP() << "takes too long";
  cluster_config cfg = GetParam().config();
  cfg.segment_bytes = 40u << 20;
  make(cfg);
  for (const uint64_t bytes : {uint64_t{8} << 20, (uint64_t{8} << 20) + 24, (uint64_t{16} << 20) + 8}) {
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
TEST_P(Notification, ManyTakersOfOneRing) {
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

// A node that is silent, or whose record comes in parts, holds up no other one: each has a ring of its own.
TEST_P(Notification, NoNodeWaitsForAnother) {
  if (simulated()) GTEST_SKIP() << "rings without a NIC";
  const int last = nodes() - 1;
  on(last, 1, 1, [&] {  // a kernel that is stopped before it has sent what it claimed
    uint64_t position = 0;
    const ring_shape ring = detail::direct_ring(1);
    EXPECT_EQ(detail::claim_lines(ring, 0, 2, position, detail::deadline(enough())), ggas_ok);
  });
  run();
  on_all(1, 1, [&] {
    const int me = ggas_node();
    const ggas_queue q = ggas_queue_of(1);
    for (uint64_t i = 0; i < 100; ++i) {
      ggas_notification note{};
      if (me != last) ASSERT_EQ(ggas_notify(0, i, 1, enough(), q), ggas_ok);
      for (int from = 0; me == 0 && from < last; ++from) {
        ASSERT_EQ(ggas_notification_wait(&note, enough(), q), ggas_ok);
        ASSERT_EQ(note.cookie, i);
      }
      ASSERT_EQ(ggas_barrier_block(enough()), ggas_ok);
    }
    ggas_notification note{};
    if (me == 0) EXPECT_EQ(ggas_notification_wait(&note, brief(), q), ggas_timed_out);
  });
  run();
  reset();
  on(last, 1, 1, [&] { EXPECT_EQ(ggas_notify(0, 5, 1, enough()), ggas_ok); });
  on(0, 1, 1, [&] {
    ggas_notification note{};
    EXPECT_EQ(ggas_notification_wait(&note, enough(), ggas_queue_of(1)), ggas_ok);
    EXPECT_EQ(note.cookie, 5u);
  });
  run();
}

TEST_P(Notification, SomeAndAllNotifications) {
  on_all(1, 1, [&] {
    const ggas_queue q = ggas_queue_of(3);
    ggas_notification notes[8];
    size_t taken = 99;
    EXPECT_EQ(ggas_notification_wait_some(notes, 8, &taken, 0, ggas_queue_of(0)), ggas_timed_out);  // no one uses it
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

}  // namespace
}  // namespace ggas::test
