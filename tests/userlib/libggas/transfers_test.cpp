// SPDX-License-Identifier: Apache-2.0
// Segments, queues, notifications and atomics, between 1 to 8 processes.
#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

class library_transfers : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, library_transfers, testing::Values(1, 2, 3, 8));

TEST_P(library_transfers, a_rank_knows_its_job) {
  run(GetParam(), [size = uint32_t(GetParam())](const rank& r) -> std::string {
    MUST_HOLD(r.size == size && r.me < size);
    std::vector<ggas_state> states(size, GGAS_STATE_LOST);
    MUST(ggas_process_states(r.p, states.data(), size), GGAS_OK);
    MUST_HOLD(std::count(states.begin(), states.end(), GGAS_STATE_HEALTHY) == int(size));
    MUST(r.barrier(), GGAS_OK);  // no one leaves while others look
    return "ok";
  });
}

TEST_P(library_transfers, segments_have_sizes_of_their_own_and_begin_with_0) {
  run(GetParam(), [](const rank& r) -> std::string {
    MUST(r.create(3, 1000 + r.me), GGAS_OK);
    for (uint32_t o = 0; o < r.size; ++o) {
      uint64_t bytes = 0;
      MUST(ggas_segment_size(r.p, 3, o, &bytes), GGAS_OK);
      MUST_HOLD(bytes == 1000 + o);
    }
    MUST_HOLD(std::all_of(r.memory(3), r.memory(3) + 1000, [](std::byte b) { return b == std::byte{0}; }));
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_P(library_transfers, a_segment_that_is_deleted_and_made_again_is_empty) {
  run(GetParam(), [](const rank& r) -> std::string {
    for (int round = 0; round < 20; ++round) {
      MUST(r.create(7, 70'000), GGAS_OK);
      auto* const m = r.memory<uint32_t>(7);
      uint32_t old = 1;
      MUST(ggas_notification_reset(r.p, 7, 65'535, &old), GGAS_OK);
      MUST_HOLD(m[0] == 0 && m[17'000] == 0 && old == 0);
      m[0] = m[17'000] = 5;
      MUST(r.notify(7, r.me, 65'535, 9), GGAS_OK);
      MUST(r.barrier(), GGAS_OK);
      MUST(ggas_segment_delete(r.p, 7), GGAS_OK);
      MUST(r.notify(7, r.me, 1, 1), GGAS_ERR_SEGMENT);
      MUST(r.barrier(), GGAS_OK);
    }
    return "ok";
  });
}

TEST(library_transfers, who_has_no_permission_does_not_reach_a_segment) {
  run(2, [](const rank& r) -> std::string {
    MUST(ggas_segment_allocate(r.p, 0, 64), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    const uint32_t other = 1 - r.me;
    MUST(r.put(0, 0, other, 0, 8), GGAS_ERR_SEGMENT);
    MUST(r.get(0, 0, other, 0, 8), GGAS_ERR_SEGMENT);
    MUST(r.notify(0, other, 0, 1), GGAS_ERR_SEGMENT);
    MUST(ggas_segment_fetch_add(r.p, 0, 0, other, 1, nullptr, timeout), GGAS_ERR_SEGMENT);
    MUST(r.barrier(), GGAS_OK);
    MUST(ggas_segment_permit(r.p, 0, other), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    MUST(r.put(0, 0, other, 0, 8), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

// Every rank writes to every rank and reads it back from there.
TEST_P(library_transfers, data_come_to_where_they_are_sent) {
  run(GetParam(), [](const rank& r) -> std::string {
    constexpr uint64_t n = 300'001;
    MUST(r.create(0, (r.size + 2) * n), GGAS_OK);
    auto* const m = r.memory<unsigned char>(0);
    unsigned char* const mine = m + r.size * n;
    for (uint64_t i = 0; i < n; ++i) mine[i] = static_cast<unsigned char>(i * 7 + r.me);
    for (uint32_t to = 0; to < r.size; ++to) MUST(r.put(0, r.size * n, to, r.me * n, n), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    for (uint32_t from = 0; from < r.size; ++from)
      for (uint64_t i = 0; i < n; ++i) MUST_HOLD(m[from * n + i] == static_cast<unsigned char>(i * 7 + from));
    for (uint32_t from = 0; from < r.size; ++from) {
      MUST(r.get(0, (r.size + 1) * n, from, r.me * n, n), GGAS_OK);
      MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
      MUST_HOLD(std::equal(mine, mine + n, m + (r.size + 1) * n));
    }
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_P(library_transfers, a_list_moves_all_its_parts) {
  run(GetParam(), [](const rank& r) -> std::string {
    MUST(r.create(1, 4096), GGAS_OK);
    MUST(r.create(2, 4096), GGAS_OK);
    auto* const m = r.memory<uint64_t>(1);
    std::iota(m, m + 512, uint64_t{1000} * r.me);
    const uint32_t right = (r.me + 1) % r.size, left = (r.me + r.size - 1) % r.size;
    const ggas_part parts[] = {{1, 2, 0, 800, 8}, {1, 2, 80, 0, 16}, {1, 2, 4088, 4088, 8}};
    MUST(ggas_queue_write_list(r.p, parts, 3, right, 1, timeout), GGAS_OK);
    uint64_t posted = 0;
    MUST(ggas_queue_posted(r.p, 1, &posted), GGAS_OK);
    MUST_HOLD(posted == 3);
    MUST(ggas_queue_wait(r.p, 1, timeout), GGAS_OK);
    MUST(ggas_queue_posted(r.p, 1, &posted), GGAS_OK);
    MUST_HOLD(posted == 0);
    MUST(r.barrier(), GGAS_OK);
    const auto* const got = r.memory<uint64_t>(2);
    const uint64_t base = uint64_t{1000} * left;
    MUST_HOLD(got[100] == base && got[0] == base + 10 && got[1] == base + 11 && got[511] == base + 511 && got[2] == 0);
    const ggas_part back[] = {{2, 1, 1600, 8, 8}, {2, 1, 1608, 24, 8}};
    MUST(ggas_queue_read_list(r.p, back, 2, left, 1, timeout), GGAS_OK);
    MUST(ggas_queue_wait(r.p, 1, timeout), GGAS_OK);
    MUST_HOLD(got[200] == base + 1 && got[201] == base + 3);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

// Rounds of data and a notification to the right: the one that sees the value sees the data of its round.
TEST_P(library_transfers, a_notification_arrives_behind_its_data) {
  run(GetParam(), [](const rank& r) -> std::string {
    constexpr uint32_t words = 1000, rounds = 300;
    MUST(r.create(0, 2 * words * 8), GGAS_OK);
    auto* const m = r.memory<uint64_t>(0);
    const uint32_t right = (r.me + 1) % r.size;
    for (uint32_t round = 1; round <= rounds; ++round) {
      std::fill(m, m + words, round);
      MUST(r.put(0, 0, right, words * 8, words * 8), GGAS_OK);
      MUST(r.notify(0, right, 500, round), GGAS_OK);
      uint32_t found = 0, value = 0;
      MUST(ggas_notification_waitsome(r.p, 0, 500, 1, &found, timeout), GGAS_OK);
      MUST(ggas_notification_reset(r.p, 0, found, &value), GGAS_OK);
      MUST_HOLD(found == 500 && value == round);
      MUST_HOLD(std::all_of(m + words, m + 2 * words, [&](uint64_t w) { return w == round; }));
      MUST(r.barrier(), GGAS_OK);
    }
    return "ok";
  });
}

TEST(library_notifications, waitsome_looks_at_its_range_only) {
  run(1, [](const rank& r) -> std::string {
    MUST(r.create(0, 8), GGAS_OK);
    uint32_t found = 77, value = 0;
    for (uint32_t slot : {0u, 9u, 20u, 65'535u}) MUST(r.notify(0, 0, slot, slot + 1), GGAS_OK);
    MUST(ggas_notification_waitsome(r.p, 0, 10, 10, &found, 5 * ms), GGAS_TIMEOUT);
    MUST(ggas_notification_waitsome(r.p, 0, 10, 11, &found, GGAS_TEST), GGAS_OK);
    MUST_HOLD(found == 20);
    MUST(ggas_notification_waitsome(r.p, 0, 21, 65'515, &found, GGAS_TEST), GGAS_OK);
    MUST_HOLD(found == 65'535);
    MUST(ggas_notification_reset(r.p, 0, 20, &value), GGAS_OK);
    MUST_HOLD(value == 21);
    MUST(ggas_notification_waitsome(r.p, 0, 10, 11, &found, GGAS_TEST), GGAS_TIMEOUT);
    MUST(ggas_notification_waitsome(r.p, 0, 0, 65'536, &found, GGAS_TEST), GGAS_OK);
    MUST_HOLD(found == 0);
    return "ok";
  });
}

TEST(library_notifications, a_full_slot_takes_the_new_value_and_blocks_nobody) {
  run(2, [](const rank& r) -> std::string {
    MUST(r.create(0, 8), GGAS_OK);
    for (uint32_t v = 1; r.me == 0 && v <= 100'000; ++v) MUST(r.notify(0, 1, 3, v), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    uint32_t value = 0;
    MUST(ggas_notification_reset(r.p, 0, 3, &value), GGAS_OK);
    MUST_HOLD(value == (r.me == 1 ? 100'000u : 0u));
    return "ok";
  });
}

// Threads of all ranks send to slots of rank 0, whose threads take them: every value comes to one of them, once.
TEST(library_notifications, none_is_lost_or_doubled_between_threads) {
  constexpr uint32_t per_sender = 3000, senders = 2;
  run(4, [](const rank& r) -> std::string {
    MUST(r.create(0, 8), GGAS_OK);
    const uint32_t slots = (r.size - 1) * senders;
    std::atomic<uint64_t> sum{0}, count{0};
    std::atomic<bool> wrong{false};
    std::vector<std::thread> threads;
    const auto send = [&](uint32_t sender) {
      const uint32_t mine = (r.me - 1) * senders + sender;
      for (uint32_t v = 1; v <= per_sender; ++v) {
        wrong = wrong || r.notify(0, 0, mine, v) != GGAS_OK;
        // The next one when that one was taken: the taker adds 1 here.
        uint32_t found, value;
        wrong = wrong || ggas_notification_waitsome(r.p, 0, mine, 1, &found, timeout) != GGAS_OK;
        wrong = wrong || ggas_notification_reset(r.p, 0, mine, &value) != GGAS_OK || value != v;
      }
    };
    const auto take = [&] {
      while (count < uint64_t{slots} * per_sender && !wrong) {
        uint32_t found, value = 0;
        if (ggas_notification_waitsome(r.p, 0, 0, slots, &found, 100 * ms) != GGAS_OK) continue;
        if (ggas_notification_reset(r.p, 0, found, &value) != GGAS_OK) wrong = true;
        if (value == 0) continue;  // another thread had it
        sum += value;
        ++count;
        if (r.notify(0, 1 + found / senders, found, value) != GGAS_OK) wrong = true;
      }
    };
    for (uint32_t t = 0; t < senders; ++t) threads.emplace_back([&, t] { r.me ? send(t) : take(); });
    for (std::thread& t : threads) t.join();
    MUST_HOLD(!wrong);
    MUST_HOLD(r.me || sum == uint64_t{slots} * per_sender * (per_sender + 1) / 2);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_P(library_transfers, fetch_add_counts_every_one) {
  run(GetParam(), [](const rank& r) -> std::string {
    constexpr uint64_t rounds = 2000;
    MUST(r.create(0, 64), GGAS_OK);
    uint64_t last = 0;
    for (uint64_t i = 0; i < rounds; ++i) {
      uint64_t old = 0;
      MUST(ggas_segment_fetch_add(r.p, 0, 56, 0, 3, &old, timeout), GGAS_OK);
      MUST_HOLD(old % 3 == 0 && (i == 0 || old > last));
      last = old;
    }
    MUST(r.barrier(), GGAS_OK);
    MUST_HOLD(r.me || r.memory<uint64_t>(0)[7] == 3 * rounds * r.size);
    return "ok";
  });
}

// A lock of compare-swap around a counter that is read and written.
TEST_P(library_transfers, compare_swap_lets_one_in) {
  run(GetParam(), [](const rank& r) -> std::string {
    MUST(r.create(0, 64), GGAS_OK);
    for (int i = 0; i < 200; ++i) {
      for (uint64_t old = 1; old != 0;) {
        MUST(ggas_segment_compare_swap(r.p, 0, 0, 0, 0, r.me + 1, &old, timeout), GGAS_OK);
        if (old) std::this_thread::yield();
      }
      MUST(r.get(0, 16, 0, 8, 8), GGAS_OK);
      MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
      ++r.memory<uint64_t>(0)[2];
      MUST(r.put(0, 16, 0, 8, 8), GGAS_OK);
      MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
      uint64_t old = 0;
      MUST(ggas_segment_compare_swap(r.p, 0, 0, 0, r.me + 1, 0, &old, timeout), GGAS_OK);
      MUST_HOLD(old == r.me + 1);
    }
    MUST(r.barrier(), GGAS_OK);
    MUST_HOLD(r.me || r.memory<uint64_t>(0)[1] == 200u * r.size);
    return "ok";
  });
}

TEST(library_queues, there_are_as_many_as_given) {
  run(1, [](const rank& r) -> std::string {
    std::vector<uint32_t> more;
    uint32_t q = 0;
    while (ggas_queue_create(r.p, &q) == GGAS_OK) more.push_back(q);
    MUST_HOLD(more.size() == GGAS_QUEUES - GGAS_QUEUES_AT_START);
    MUST(ggas_queue_delete(r.p, more[3]), GGAS_OK);
    MUST(ggas_queue_wait(r.p, more[3], timeout), GGAS_ERR_QUEUE);
    MUST(ggas_queue_create(r.p, &q), GGAS_OK);
    MUST_HOLD(q == more[3]);
    return "ok";
  });
}

TEST(library_statistics, calls_are_counted) {
  run(1, [](const rank& r) -> std::string {
    MUST(r.create(0, 4096), GGAS_OK);
    MUST(r.put(0, 0, 0, 100, 100), GGAS_OK);
    MUST(r.get(0, 0, 0, 100, 50), GGAS_OK);
    MUST(r.notify(0, 0, 1, 1), GGAS_OK);
    uint32_t found;
    MUST(ggas_notification_waitsome(r.p, 0, 2, 1, &found, GGAS_TEST), GGAS_TIMEOUT);
    ggas_statistics s{};
    MUST(ggas_process_statistics(r.p, &s), GGAS_OK);
    MUST_HOLD(s.writes == 1 && s.written_bytes == 100 && s.reads == 1 && s.read_bytes == 50);
    MUST_HOLD(s.notifications == 1 && s.timeouts == 1 && s.atomics == 0);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
