// SPDX-License-Identifier: Apache-2.0
// Timers: what falls on the same time goes on in the order in which it was asked for, whatever else waits.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/pcie/timer.hpp"

namespace ggas::test {
namespace {

using pcie::timer;

sc_core::sc_time ps(uint64_t v) { return sc_core::sc_time::from_value(v); }

void run(sim::kernel& k, uint64_t until_ps) {
  k.run_until([] { return false; }, until_ps);
}

// Parts of one node, at few times, next to `others` of another node: the order among the node's own.
std::vector<int> order_beside(int others) {
  sim::kernel k;
  std::mt19937 random(7), theirs(11);
  std::vector<int> order;
  std::deque<timer> own, other;
  for (int i = 0; i < 200; ++i) {
    for (int o = 0; o < others; ++o) other.emplace_back([] {}).notify(ps(1 + theirs() % 40));
    own.emplace_back([&order, i] { order.push_back(i); }).notify(ps(1 + random() % 10));
  }
  run(k, 1000);
  return order;
}

TEST(timers, order_does_not_depend_on_others) {
  const auto alone = order_beside(0);
  ASSERT_EQ(alone.size(), 200u);
  for (const int others : {1, 2, 3, 7}) EXPECT_EQ(order_beside(others), alone) << others;
}

TEST(timers, equal_times_go_in_the_order_they_were_asked_for) {
  sim::kernel k;
  std::vector<int> order;
  std::deque<timer> all;
  for (int i = 0; i < 100; ++i) all.emplace_back([&order, i] { order.push_back(i); });
  for (int i = 99; i >= 0; --i) all[size_t(i)].notify(ps(50));
  run(k, 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[size_t(i)], 99 - i);
}

TEST(timers, a_clock_comes_last_but_before_what_it_asks_for_now) {
  sim::kernel k;
  std::vector<char> order;
  timer after([&] { order.push_back('z'); });
  timer clock(
      [&] {
        order.push_back('c');
        after.notify(ps(0));
      },
      timer::turn::last);
  timer first([&] { order.push_back('a'); }), second([&] { order.push_back('b'); });
  clock.notify(ps(5));
  first.notify(ps(5));
  second.notify(ps(5));
  run(k, 10);
  EXPECT_EQ(order, (std::vector<char>{'a', 'b', 'c', 'z'}));
}

TEST(timers, the_earliest_time_counts) {
  sim::kernel k;
  std::vector<uint64_t> at;
  timer t([&] { at.push_back(k.now_ps()); });
  for (const uint64_t when : {30, 10, 20}) t.notify(ps(when));
  run(k, 100);
  EXPECT_EQ(at, std::vector<uint64_t>{10});
  t.notify(ps(7));  // at 107
  t.cancel();
  run(k, 100);
  t.notify(ps(3));
  run(k, 100);
  EXPECT_EQ(at, (std::vector<uint64_t>{10, 203}));
}

TEST(timers, one_that_is_gone_does_not_run) {
  sim::kernel k;
  int ran = 0;
  timer stays([&] { ++ran; });
  auto goes = std::make_unique<timer>([&] { ran += 100; });
  goes->notify(ps(10));
  goes->notify(ps(5));
  stays.notify(ps(10));
  goes.reset();
  run(k, 100);
  EXPECT_EQ(ran, 1);
}

TEST(timers, systems_side_by_side) {
  sim::kernel a;
  std::vector<char> order;
  timer of_a([&] { order.push_back('a'); });
  sim::kernel b;
  timer of_b([&] { order.push_back('b'); });
  of_b.notify(ps(1));
  a.enter();
  of_a.notify(ps(2));
  run(a, 10);
  EXPECT_EQ(order, std::vector<char>{'a'});
  run(b, 10);
  EXPECT_EQ(order, (std::vector<char>{'a', 'b'}));
  a.enter();  // its timer goes first
}

}  // namespace
}  // namespace ggas::test
