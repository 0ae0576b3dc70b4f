// SPDX-License-Identifier: Apache-2.0
// kill -9 of one of 8 ranks in each phase: the others come back, know it, and go on as a group of their own.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

constexpr int size = 8;
constexpr uint32_t victim = 5;

// Until a rank is known to be lost.
std::string sees_the_loss(const rank& r) {
  std::vector<ggas_state> states(r.size);
  for (int i = 0; i < 20'000; ++i) {
    MUST(ggas_process_states(r.p, states.data(), r.size), GGAS_OK);
    if (states[victim] == GGAS_STATE_LOST) break;
    usleep(1000);
  }
  for (uint32_t o = 0; o < r.size; ++o) MUST_HOLD(states[o] == (o == victim ? GGAS_STATE_LOST : GGAS_STATE_HEALTHY));
  return "ok";
}

// The survivors find each other and work.
std::string goes_on(const rank& r) {
  uint32_t g = 0, one = 1, sum = 0;
  MUST(ggas_group_create(r.p, &g), GGAS_OK);
  for (uint32_t o = 0; o < r.size; ++o)
    if (o != victim) MUST(ggas_group_add(r.p, g, o), GGAS_OK);
  MUST(ggas_group_commit(r.p, g, timeout), GGAS_OK);
  MUST(ggas_group_allreduce(r.p, &one, &sum, 1, GGAS_ELEMENT_UINT32, GGAS_OP_SUM, g, timeout), GGAS_OK);
  MUST_HOLD(sum == r.size - 1);
  MUST(ggas_segment_create(r.p, 200, 4096, g, timeout), GGAS_OK);
  MUST(r.put(200, 0, r.me == 0 ? 1 : 0, 8 * r.me, 8), GGAS_OK);
  MUST(ggas_group_barrier(r.p, g, timeout), GGAS_OK);
  return "ok";
}

std::string recovers(const rank& r) {
  const std::string seen = sees_the_loss(r);
  return seen == "ok" ? goes_on(r) : seen;
}

// All run `before`; then the victim stays in `there` until it is killed, which the others answer with `then`.
void kill_one(const program& before, const program& there, const program& then) {
  processes all;
  all.start_all(size, member(size, [&](const rank& r) -> std::string {
                  if (const std::string b = before(r); b != "ok") return b;
                  r.parent.say("ready");
                  return r.me == victim ? there(r) : then(r);
                }));
  for (int r = 0; r < size; ++r) ASSERT_EQ(all.next(r, soon), "ready") << "rank " << r;
  all.kill(victim);
  EXPECT_EQ(all.ending(victim, soon), "signal 9");
  for (int r = 0; r < size; ++r) {
    if (r == int(victim)) continue;
    EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}

std::string segment_of_all(const rank& r) {
  MUST(r.create(0, 1 << 20), GGAS_OK);
  MUST(r.barrier(), GGAS_OK);
  return "ok";
}

// On simulated nodes in a call: a rank that asks for nothing lets the time of all stand still.
std::string sleep_for_ever(const rank& r) {
  uint32_t found;
  if (simulated()) ggas_notification_waitsome(r.p, 0, 60'000, 1, &found, GGAS_BLOCK);
  for (;;) pause();
}

TEST(library_failures, killed_while_idle) { kill_one(segment_of_all, sleep_for_ever, recovers); }

TEST(library_failures, killed_before_a_barrier) {
  kill_one(segment_of_all, sleep_for_ever, [](const rank& r) -> std::string {
    MUST(r.barrier(), GGAS_ERR_PEER);
    MUST(r.barrier(), GGAS_ERR_PEER);  // and for ever
    return recovers(r);
  });
}

TEST(library_failures, killed_in_a_barrier) {
  const auto meets = [](const rank& r) -> std::string {
    for (;;)
      if (const ggas_rc rc = r.barrier(); rc != GGAS_OK) return rc == GGAS_ERR_PEER ? "ok" : "wrong code";
  };
  kill_one(segment_of_all, meets, [&](const rank& r) {
    const std::string met = meets(r);
    return met == "ok" ? recovers(r) : met;
  });
}

TEST(library_failures, killed_in_a_reduction) {
  const auto reduces = [](const rank& r) -> std::string {
    std::vector<double> v(30'000, 1), to(30'000);
    for (;;) {
      const ggas_rc rc = ggas_group_allreduce(r.p, v.data(), to.data(), v.size(), GGAS_ELEMENT_DOUBLE, GGAS_OP_SUM,
                                              GGAS_GROUP_ALL, timeout);
      if (rc != GGAS_OK) return rc == GGAS_ERR_PEER ? "ok" : "wrong code";
      if (!std::all_of(to.begin(), to.end(), [](double d) { return d == size; })) return "wrong sum";
    }
  };
  kill_one(segment_of_all, reduces, [&](const rank& r) {
    const std::string met = reduces(r);
    return met == "ok" ? recovers(r) : met;
  });
}

TEST(library_failures, killed_while_it_is_written_to) {
  kill_one(segment_of_all, sleep_for_ever, [](const rank& r) -> std::string {
    ggas_rc rc = GGAS_OK;
    for (int i = 0; i < 1'000'000 && rc == GGAS_OK; ++i) {
      MUST(r.put(0, 0, victim, 1000 * r.me, 1000), GGAS_OK);
      rc = ggas_queue_wait(r.p, 0, timeout);
    }
    MUST_HOLD(rc == GGAS_ERR_PEER);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_ERR_PEER);  // until it is purged
    MUST(ggas_queue_purge(r.p, 0), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    return recovers(r);
  });
}

// What was waited for before is no matter any more, neither on a queue that is empty nor after others' transfers.
TEST(library_failures, killed_when_all_was_waited_for) {
  const auto waited = [](const rank& r) -> std::string {
    if (const std::string made = segment_of_all(r); made != "ok") return made;
    MUST(r.put(0, 0, victim, 8 * r.me, 8), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    return "ok";
  };
  kill_one(waited, sleep_for_ever, [](const rank& r) -> std::string {
    if (const std::string seen = sees_the_loss(r); seen != "ok") return seen;
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    MUST(r.put(0, 0, r.me, 8, 8), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    MUST(r.put(0, 0, victim, 8, 8), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_ERR_PEER);
    return goes_on(r);
  });
}

// One thread waits all the time. The error of a post to the lost rank is still reported to the thread that made it.
TEST(library_failures, killed_and_two_threads_wait) {
  kill_one(segment_of_all, sleep_for_ever, [](const rank& r) -> std::string {
    if (const std::string seen = sees_the_loss(r); seen != "ok") return seen;
    std::atomic<bool> over{false};
    std::thread other([&] {
      while (!over) static_cast<void>(ggas_queue_wait(r.p, 0, timeout));
    });
    const auto posts = [&]() -> std::string {
      for (int i = 0; i < (simulated() ? 20 : 20'000); ++i) {
        MUST(ggas_queue_purge(r.p, 0), GGAS_OK);
        MUST(r.put(0, 0, victim, 8, 8), GGAS_OK);
        MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_ERR_PEER);
      }
      return "ok";
    };
    const std::string posted = posts();
    over = true;
    other.join();
    return posted == "ok" ? goes_on(r) : posted;
  });
}

TEST(library_failures, killed_while_it_writes) {
  const auto writes = [](const rank& r) -> std::string {
    for (;;) {
      MUST(r.put(0, 0, 0, 1000, 500'000), GGAS_OK);
      MUST(r.notify(0, 0, 0, 1), GGAS_OK);
    }
  };
  kill_one(segment_of_all, writes, recovers);
}

TEST(library_failures, killed_while_it_should_receive_or_send) {
  kill_one(segment_of_all, sleep_for_ever, [](const rank& r) -> std::string {
    ggas_rc rc = GGAS_OK;
    for (int i = 0; i < 3 && rc == GGAS_OK; ++i) rc = ggas_passive_send(r.p, 0, 0, victim, 100, timeout);
    MUST_HOLD(rc == GGAS_ERR_PEER);
    uint32_t from;
    MUST(ggas_passive_receive(r.p, 0, 0, &from, 100, 20 * ms), GGAS_TIMEOUT);
    return recovers(r);
  });
}

TEST(library_failures, killed_while_it_receives) {
  const auto receives = [](const rank& r) -> std::string {
    uint32_t from;
    for (;;) MUST(ggas_passive_receive(r.p, 0, 0, &from, 100'000, timeout), GGAS_OK);
  };
  kill_one(segment_of_all, receives, [](const rank& r) -> std::string {
    ggas_rc rc = GGAS_OK;
    while (rc == GGAS_OK) rc = ggas_passive_send(r.p, 0, 0, victim, 60'000, timeout);
    MUST_HOLD(rc == GGAS_ERR_PEER);
    return recovers(r);
  });
}

TEST(library_failures, killed_with_memory_of_its_user) {
  static std::vector<uint64_t> memory(100'000);
  const auto binds = [](const rank& r) -> std::string {
    MUST(ggas_segment_use(r.p, 0, memory.data(), memory.size() * 8, GGAS_GROUP_ALL, timeout), GGAS_OK);
    return "ok";
  };
  kill_one(binds, sleep_for_ever, [](const rank& r) -> std::string {
    ggas_rc rc = GGAS_OK;
    while (rc == GGAS_OK) {
      rc = r.put(0, 0, victim, 0, 700'000);
      if (rc == GGAS_OK) rc = ggas_segment_fetch_add(r.p, 0, 0, victim, 1, nullptr, timeout);
    }
    MUST_HOLD(rc == GGAS_ERR_PEER);
    MUST(ggas_queue_purge(r.p, 0), GGAS_OK);
    return recovers(r);
  });
}

TEST(library_failures, killed_while_a_group_is_committed) {
  kill_one(segment_of_all, sleep_for_ever, [](const rank& r) -> std::string {
    uint32_t g = 0;
    MUST(ggas_group_create(r.p, &g), GGAS_OK);
    for (uint32_t o : {r.me, victim}) MUST(ggas_group_add(r.p, g, o), GGAS_OK);
    MUST(ggas_group_commit(r.p, g, timeout), GGAS_ERR_PEER);
    MUST(ggas_group_delete(r.p, g), GGAS_OK);
    return recovers(r);
  });
}

TEST(library_failures, killed_by_another_rank) {
  processes all;
  all.start_all(size, member(size, [](const rank& r) -> std::string {
                  if (r.me == victim) return sleep_for_ever(r);
                  if (r.me == 0) MUST(ggas_process_kill(r.p, victim), GGAS_OK);
                  return recovers(r);
                }));
  for (int r = 0; r < size; ++r) {
    EXPECT_EQ(all.next(r, soon), r == int(victim) ? "" : "ok") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), r == int(victim) ? "signal 9" : "0") << "rank " << r;
  }
}

// A rank that never comes, and one that is killed while others are missing: the others learn of it in time.
TEST(library_failures, killed_at_the_start) {
  const std::string job = job_name();
  processes all;
  const auto body = [&](int r, const voice& parent) {
    be(r, size, job);
    ggas_process* p = nullptr;
    parent.say("ready");
    const ggas_rc rc = ggas_process_start(&p, second);
    parent.say(rc == GGAS_OK ? "started" : "not started");
  };
  for (int r = 0; r < size - 1; ++r) all.start(r, body);  // rank 7 does not come
  for (int r = 0; r < size - 1; ++r) ASSERT_EQ(all.next(r, soon), "ready");
  all.kill(victim);
  for (int r = 0; r < size - 1; ++r) {
    if (r == int(victim)) continue;
    EXPECT_EQ(all.next(r, soon), "not started") << "rank " << r;
    EXPECT_EQ(all.ending(r, soon), "0") << "rank " << r;
  }
}

// A rank that has left in order is not lost, and a barrier does not wait for it.
TEST(library_failures, a_rank_that_leaves_is_not_lost) {
  run(3, [](const rank& r) -> std::string {
    MUST(r.barrier(), GGAS_OK);
    if (r.me == 2) return "ok";
    MUST(r.barrier(), GGAS_ERR_PEER);
    std::vector<ggas_state> states(3);
    MUST(ggas_process_states(r.p, states.data(), 3), GGAS_OK);
    MUST_HOLD(states[2] == GGAS_STATE_LEFT);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
