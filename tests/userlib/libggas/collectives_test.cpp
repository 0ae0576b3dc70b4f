// SPDX-License-Identifier: Apache-2.0
// Groups, barrier, allreduce and passive messages, between 1 to 8 processes.
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

class library_collectives : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ranks, library_collectives, testing::Values(1, 2, 3, 8));

// Every member has written its round to every member when a barrier is over.
TEST_P(library_collectives, a_barrier_waits_for_all) {
  run(GetParam(), [](const rank& r) -> std::string {
    MUST(r.create(0, 8 * (r.size + 1)), GGAS_OK);
    auto* const m = r.memory<uint64_t>(0);
    for (uint64_t round = 1; round <= 200; ++round) {
      m[r.size] = round;
      for (uint32_t to = 0; to < r.size; ++to) MUST(r.put(0, 8 * r.size, to, 8 * r.me, 8), GGAS_OK);
      MUST(r.barrier(), GGAS_OK);
      MUST_HOLD(std::all_of(m, m + r.size, [&](uint64_t v) { return v == round; }));
      MUST(r.barrier(), GGAS_OK);
    }
    return "ok";
  });
}

template <class T>
std::string all_operations(const rank& r, ggas_element type) {
  for (const size_t n : {1, 2, 255, 1034, 1035, 20'000, 50'001}) {
    std::vector<T> from(n), sum(n), least(n), most(n);
    for (size_t i = 0; i < n; ++i) from[i] = static_cast<T>(i % 100 + r.me);
    MUST(ggas_group_allreduce(r.p, from.data(), sum.data(), n, type, GGAS_OP_SUM, 0, timeout), GGAS_OK);
    MUST(ggas_group_allreduce(r.p, from.data(), least.data(), n, type, GGAS_OP_MIN, 0, timeout), GGAS_OK);
    MUST(ggas_group_allreduce(r.p, from.data(), most.data(), n, type, GGAS_OP_MAX, 0, timeout), GGAS_OK);
    std::vector<T> product(n, 2);
    MUST(ggas_group_allreduce(r.p, product.data(), product.data(), n, type, GGAS_OP_PRODUCT, 0, timeout), GGAS_OK);
    const size_t s = r.size;
    for (size_t i = 0; i < n; ++i) {
      MUST_HOLD(sum[i] == static_cast<T>(s * (i % 100) + s * (s - 1) / 2));
      MUST_HOLD(least[i] == static_cast<T>(i % 100) && most[i] == static_cast<T>(i % 100 + s - 1));
      MUST_HOLD(product[i] == static_cast<T>(1u << s));
    }
  }
  return "ok";
}

TEST_P(library_collectives, allreduce_of_every_type_size_and_operation) {
  run(GetParam(), [](const rank& r) -> std::string {
    for (const std::string& said :
         {all_operations<int32_t>(r, GGAS_ELEMENT_INT32), all_operations<uint32_t>(r, GGAS_ELEMENT_UINT32),
          all_operations<int64_t>(r, GGAS_ELEMENT_INT64), all_operations<uint64_t>(r, GGAS_ELEMENT_UINT64),
          all_operations<float>(r, GGAS_ELEMENT_FLOAT), all_operations<double>(r, GGAS_ELEMENT_DOUBLE)})
      if (said != "ok") return said;
    return "ok";
  });
}

TEST(library_collectives, integers_wrap) {
  run(2, [](const rank& r) -> std::string {
    const int32_t most = INT32_MAX;
    int32_t sum = 0;
    MUST(ggas_group_allreduce(r.p, &most, &sum, 1, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, timeout), GGAS_OK);
    MUST_HOLD(sum == -2);
    return "ok";
  });
}

// Sums that depend on the order of additions: all ranks get the same bits.
TEST(library_collectives, all_ranks_get_the_same_bits) {
  run(5, [](const rank& r) -> std::string {
    constexpr size_t n = 30'000;
    MUST(r.create(0, n * 8), GGAS_OK);
    std::vector<double> from(n), to(n), others(n);
    for (size_t i = 0; i < n; ++i) from[i] = 1.0 / double(3 + i * 7 + r.me * 1'000'003);
    MUST(ggas_group_allreduce(r.p, from.data(), to.data(), n, GGAS_ELEMENT_DOUBLE, GGAS_OP_SUM, 0, timeout), GGAS_OK);
    std::memcpy(r.memory(0), to.data(), n * 8);
    MUST(r.barrier(), GGAS_OK);
    if (r.me) MUST(r.get(0, 0, 0, 0, n * 8), GGAS_OK);
    MUST_HOLD(std::memcmp(r.memory(0), to.data(), n * 8) == 0);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

struct complex {
  double re, im;
};
int multiply(const void* one, const void* two, void* result, void* state, size_t n, size_t bytes, uint64_t) {
  const auto *a = static_cast<const complex*>(one), *b = static_cast<const complex*>(two);
  auto* const c = static_cast<complex*>(result);
  for (size_t i = 0; i < n; ++i) c[i] = {a[i].re * b[i].re - a[i].im * b[i].im, a[i].re * b[i].im + a[i].im * b[i].re};
  ++*static_cast<int*>(state);
  return bytes == sizeof(complex) ? 0 : -99;
}

TEST_P(library_collectives, an_operation_of_the_user) {
  run(GetParam(), [](const rank& r) -> std::string {
    for (const size_t n : {1, 10'000}) {
      std::vector<complex> v(n, complex{0, 1}), to(n);
      int calls = 0;
      MUST(ggas_group_allreduce_user(r.p, v.data(), to.data(), n, sizeof(complex), multiply, &calls, 0, timeout),
           GGAS_OK);
      const complex wanted[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
      const complex w = wanted[r.size % 4];
      MUST_HOLD(std::all_of(to.begin(), to.end(), [&](const complex& c) { return c.re == w.re && c.im == w.im; }));
      MUST_HOLD(r.size == 1 || calls > 0);
    }
    return "ok";
  });
}

// An operation of the user that has no time for now: the same call again goes on, with the parts the others brought.
int busy_at_first(const void* one, const void* two, void* result, void* state, size_t n, size_t, uint64_t) {
  if ((*static_cast<int*>(state))++ == 0) return GGAS_TIMEOUT;
  for (size_t i = 0; i < n; ++i)
    static_cast<uint64_t*>(result)[i] = static_cast<const uint64_t*>(one)[i] + static_cast<const uint64_t*>(two)[i];
  return 0;
}

TEST(library_collectives, an_operation_of_the_user_times_out_and_is_resumed) {
  run(3, [](const rank& r) -> std::string {
    for (const size_t n : {1, 20'000}) {
      std::vector<uint64_t> v(n, r.me + 1), to(n);
      int calls = 0;
      const auto reduce = [&] {
        return ggas_group_allreduce_user(r.p, v.data(), to.data(), n, 8, busy_at_first, &calls, 0, timeout);
      };
      MUST(reduce(), GGAS_TIMEOUT);
      MUST(reduce(), GGAS_OK);
      MUST_HOLD(std::all_of(to.begin(), to.end(), [](uint64_t s) { return s == 6; }));
    }
    return "ok";
  });
}

TEST(library_collectives, a_time_out_is_resumed_and_counts_once) {
  run(3, [](const rank& r) -> std::string {
    for (int round = 0; round < 5; ++round) {
      int calls = 0;
      if (r.me == 0) {
        // Rank 0 comes when the others have had a time-out.
        uint32_t found, value;
        for (uint32_t slot : {1u, 2u}) {
          if (round == 0 && slot == 1) MUST(r.create(0, 8), GGAS_OK);
          MUST(ggas_notification_waitsome(r.p, 0, slot, 1, &found, timeout), GGAS_OK);
          MUST(ggas_notification_reset(r.p, 0, slot, &value), GGAS_OK);
        }
      } else if (round == 0) {
        MUST(r.create(0, 8), GGAS_OK);
      }
      std::vector<int64_t> v(20'000, r.me + 1), to(20'000);
      const auto reduce = [&](uint64_t t) {
        return ggas_group_allreduce(r.p, v.data(), to.data(), v.size(), GGAS_ELEMENT_INT64, GGAS_OP_SUM, 0, t);
      };
      if (r.me) {
        MUST(reduce(round % 2 ? ms : GGAS_TEST), GGAS_TIMEOUT);
        MUST(r.barrier(), GGAS_ERR_STATE);  // the reduction comes first
        MUST(reduce(GGAS_TEST), GGAS_TIMEOUT);
        MUST(r.notify(0, 0, r.me, 1), GGAS_OK);
      }
      ggas_rc rc;
      while ((rc = reduce(ms)) == GGAS_TIMEOUT && ++calls < 20'000) {
      }
      MUST(rc, GGAS_OK);
      MUST_HOLD(std::all_of(to.begin(), to.end(), [](int64_t s) { return s == 6; }));
    }
    return "ok";
  });
}

TEST(library_collectives, different_calls_are_found_out) {
  run(2, [](const rank& r) -> std::string {
    int32_t a[2] = {}, b[2];
    MUST(ggas_group_allreduce(r.p, a, b, 1 + r.me, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, timeout), GGAS_ERR_MISMATCH);
    MUST(r.barrier(), GGAS_ERR_MISMATCH);  // the group is broken
    return "ok";
  });
}

TEST_P(library_collectives, groups_of_some_work_beside_that_of_all) {
  run(GetParam(), [](const rank& r) -> std::string {
    for (int round = 0; round < 80; ++round) {  // more than there are groups at a time
      uint32_t even = 0, size = 0;
      if (r.me % 2 == 0) {
        MUST(ggas_group_create(r.p, &even), GGAS_OK);
        for (uint32_t o = 0; o < r.size; o += 2) MUST(ggas_group_add(r.p, even, o), GGAS_OK);
        MUST(ggas_group_barrier(r.p, even, timeout), GGAS_ERR_GROUP);  // not committed
        MUST(ggas_group_commit(r.p, even, timeout), GGAS_OK);
        MUST(ggas_group_size(r.p, even, &size), GGAS_OK);
        uint32_t one = 1, sum = 0;
        MUST(ggas_group_allreduce(r.p, &one, &sum, 1, GGAS_ELEMENT_UINT32, GGAS_OP_SUM, even, timeout), GGAS_OK);
        MUST_HOLD(sum == (r.size + 1) / 2 && size == sum);
        MUST(ggas_group_delete(r.p, even), GGAS_OK);
      }
      if (round % 16 == 0) MUST(r.barrier(), GGAS_OK);
    }
    return "ok";
  });
}

// Two groups of the same ranks are two: what one waits for the other does not give.
TEST(library_collectives, groups_of_the_same_ranks_are_apart) {
  run(2, [](const rank& r) -> std::string {
    uint32_t groups[2];
    for (uint32_t& g : groups) {
      MUST(ggas_group_create(r.p, &g), GGAS_OK);
      MUST(ggas_group_add(r.p, g, 0), GGAS_OK);
      MUST(ggas_group_add(r.p, g, 1), GGAS_OK);
    }
    MUST(ggas_group_commit(r.p, groups[0], timeout), GGAS_OK);
    MUST(ggas_group_commit(r.p, groups[1], timeout), GGAS_OK);
    if (r.me == 0) {
      MUST(ggas_group_barrier(r.p, groups[0], 2 * ms), GGAS_TIMEOUT);
      MUST(ggas_group_barrier(r.p, groups[1], timeout), GGAS_OK);
      MUST(ggas_group_barrier(r.p, groups[0], timeout), GGAS_OK);
    } else {
      MUST(ggas_group_barrier(r.p, groups[1], timeout), GGAS_OK);
      MUST(ggas_group_barrier(r.p, groups[0], timeout), GGAS_OK);
    }
    return "ok";
  });
}

TEST(library_collectives, a_commit_is_resumed) {
  run(3, [](const rank& r) -> std::string {
    MUST(r.create(0, 8), GGAS_OK);
    uint32_t g = 0, found;
    MUST(ggas_group_create(r.p, &g), GGAS_OK);
    for (uint32_t o = 0; o < r.size; ++o) MUST(ggas_group_add(r.p, g, o), GGAS_OK);
    if (r.me != 1) {
      MUST(ggas_group_commit(r.p, g, ms), GGAS_TIMEOUT);
      MUST(r.notify(0, 1, r.me, 1), GGAS_OK);
    } else {
      MUST(ggas_notification_waitsome(r.p, 0, 0, 1, &found, timeout), GGAS_OK);
      MUST(ggas_notification_waitsome(r.p, 0, 2, 1, &found, timeout), GGAS_OK);
    }
    MUST(ggas_group_commit(r.p, g, timeout), GGAS_OK);
    MUST(ggas_group_barrier(r.p, g, timeout), GGAS_OK);
    return "ok";
  });
}

// Attempts that come to nothing leave no place of the table after, also where the other rank once had that group.
TEST(library_collectives, a_commit_that_is_given_up_takes_nothing) {
  run(2, [](const rank& r) -> std::string {
    const auto group_of_both = [&](uint32_t& g) {
      ggas_group_create(r.p, &g);
      ggas_group_add(r.p, g, 0);
      return ggas_group_add(r.p, g, 1);
    };
    uint32_t g = 0;
    MUST(group_of_both(g), GGAS_OK);
    MUST(ggas_group_commit(r.p, g, timeout), GGAS_OK);
    MUST(ggas_group_delete(r.p, g), GGAS_OK);
    MUST(r.barrier(), GGAS_OK);
    for (int i = 0; r.me == 1 && i < 100; ++i) {
      MUST(group_of_both(g), GGAS_OK);
      MUST(ggas_group_commit(r.p, g, GGAS_TEST), GGAS_TIMEOUT);
      MUST(ggas_group_delete(r.p, g), GGAS_OK);
    }
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST(library_collectives, a_segment_that_was_deleted_is_made_again) {
  run(2, [](const rank& r) -> std::string {
    MUST(r.create(1, 8), GGAS_OK);
    if (r.me == 1) {
      MUST(ggas_segment_create(r.p, 0, 64, GGAS_GROUP_ALL, GGAS_TEST), GGAS_TIMEOUT);
      MUST(ggas_segment_delete(r.p, 0), GGAS_OK);
      MUST(r.notify(1, 0, 0, 1), GGAS_OK);
    } else {
      uint32_t found;
      MUST(ggas_notification_waitsome(r.p, 1, 0, 1, &found, timeout), GGAS_OK);
    }
    MUST(r.create(0, 64), GGAS_OK);
    MUST_HOLD(r.memory(0) != nullptr);
    MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST_P(library_collectives, passive_messages_come_in_the_order_of_each_rank) {
  run(GetParam(), [](const rank& r) -> std::string {
    constexpr uint32_t messages = 50;
    MUST(r.create(0, 2 * GGAS_PASSIVE_MOST), GGAS_OK);
    auto* const m = r.memory<uint32_t>(0);
    std::string wrong = "ok";
    // A thread receives what all send, this one too.
    std::thread receiver([&] {
      std::vector<uint32_t> next(r.size, 0);
      for (uint32_t i = 0; i < messages * r.size; ++i) {
        uint32_t from = 99;
        if (ggas_passive_receive(r.p, 0, 0, &from, GGAS_PASSIVE_MOST, timeout) != GGAS_OK) {
          wrong = ggas_error_text();
          return;
        }
        const uint32_t bytes = m[0] ? m[0] : 4;
        if (from >= r.size || m[1] != from || m[2] != next[from]++ || m[bytes / 4 - 1] != m[2]) wrong = "mixed up";
      }
    });
    std::vector<uint32_t> sizes{16, 400, GGAS_PASSIVE_MOST};
    uint32_t* const out = m + GGAS_PASSIVE_MOST / 4;
    for (uint32_t i = 0; i < messages; ++i) {
      const uint32_t bytes = sizes[i % 3];
      out[0] = bytes;
      out[1] = r.me;
      out[2] = out[bytes / 4 - 1] = i;
      for (uint32_t to = 0; to < r.size; ++to)
        MUST(ggas_passive_send(r.p, 0, GGAS_PASSIVE_MOST, to, bytes, timeout), GGAS_OK);
    }
    receiver.join();
    return wrong;
  });
}

TEST(library_passive, waits_end_and_a_message_too_long_stays) {
  run(1, [](const rank& r) -> std::string {
    MUST(r.create(0, 4096), GGAS_OK);
    uint32_t from = 9;
    MUST(ggas_passive_receive(r.p, 0, 0, &from, 4096, ms), GGAS_TIMEOUT);
    MUST(ggas_passive_send(r.p, 0, 0, 0, 100, timeout), GGAS_OK);
    MUST(ggas_passive_send(r.p, 0, 0, 0, 100, ms), GGAS_TIMEOUT);  // the first one is still there
    MUST(ggas_passive_receive(r.p, 0, 0, &from, 99, timeout), GGAS_ERR_SIZE);
    MUST(ggas_passive_receive(r.p, 0, 0, &from, 100, timeout), GGAS_OK);
    MUST_HOLD(from == 0);
    return "ok";
  });
}

}  // namespace
}  // namespace ggas::library_test
