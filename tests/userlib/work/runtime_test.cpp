// SPDX-License-Identifier: Apache-2.0
// The message-driven host: counts, order, priorities, moves, broadcasts, reductions, ends.
#include "ggas/runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <stdexcept>

namespace ggas::test {
namespace {

constexpr uint64_t second = 1'000'000'000, enough = 60 * second;

std::unique_ptr<runtime> make(int processors) {
  auto made = runtime::create({.processors = processors});
  EXPECT_TRUE(made) << text_of(made);
  return std::move(*made);
}

// Which processors are in a method, and how often one was entered twice.
struct watch {
  std::vector<std::atomic<int>> inside;
  std::atomic<int> wrong = 0;
  explicit watch(int processors) : inside(static_cast<size_t>(processors)) {}
};

struct in_ring {
  size_t index;
  runtime& rt;
  watch& seen;
  const object_array<in_ring>*& all;
  uint64_t passed = 0;
  in_ring(size_t i, runtime* r, watch* w, const object_array<in_ring>** a) : index(i), rt(*r), seen(*w), all(*a) {}
  void pass(uint64_t left) {
    auto& inside = seen.inside[static_cast<size_t>(rt.here())];
    seen.wrong += inside.fetch_add(1) != 0;
    ++passed;
    if (left > 0) (*all)[(index + 1) % all->size()].template send<&in_ring::pass>(left - 1);
    if (passed % 7 == 0)
      (*all)[index].move_to(static_cast<int>((index + passed) % static_cast<size_t>(rt.processors())));
    inside.fetch_sub(1);
  }
};

TEST(runtime, a_ring_of_objects_that_move_counts_exactly) {
  constexpr size_t objects = 1000;
  constexpr uint64_t rounds = 20, starts = 5;
  const auto rt = make(4);
  watch seen(4);
  const object_array<in_ring>* all = nullptr;
  const auto made = rt->make_array<in_ring>(objects, {}, rt.get(), &seen, &all);
  ASSERT_TRUE(made) << text_of(made);
  all = &*made;
  for (uint64_t s = 0; s < starts; ++s) (*all)[s * 200].send<&in_ring::pass>(rounds * objects - 1);
  ASSERT_EQ(text_of(rt->run(enough)), "");
  for (size_t i = 0; i < objects; ++i) ASSERT_EQ(all->look_at(i)->passed, starts * rounds) << i;
  EXPECT_EQ(seen.wrong, 0);
  uint64_t forwarded = 0, messages = 0;
  for (int p = 0; p < 4; ++p) {
    forwarded += rt->statistics(p).forwarded;
    messages += rt->statistics(p).messages;
  }
  EXPECT_GE(messages, starts * rounds * objects);
  EXPECT_EQ(rt->statistics(4).messages, 0u);
}

struct noted {
  std::vector<int> order;
  void note(int n) { order.push_back(n); }
  void send_all(const object_array<noted>* all) {
    for (const int p : {0, -1, 3, 0, -1, 3, 7}) {
      const int n = static_cast<int>(order.size());
      order.push_back(-1);
      (*all)[1].prioritized(p).send<&noted::note>(10 * p + n);
    }
  }
};

TEST(runtime, higher_priorities_overtake_and_equal_ones_keep_their_order) {
  const auto rt = make(1);
  const auto all = rt->make_array<noted>(2);
  ASSERT_TRUE(all);
  (*all)[0].send<&noted::send_all>(&*all);
  ASSERT_EQ(text_of(rt->run(enough)), "");
  EXPECT_EQ(all->look_at(1)->order, (std::vector<int>{76, 32, 35, 0, 3, -9, -6}));
}

struct member {
  runtime& rt;
  size_t index;
  uint64_t sum = 0;
  member(size_t i, runtime* r) : rt(*r), index(i) {}
  void add(uint64_t n) { sum += n; }
  void give(const object_array<member>* all, std::function<void(uint64_t)> then) {
    for (int round = 0; round < 3; ++round) (*all)[index].contribute<uint64_t>(sum + index, std::plus<>{}, then);
  }
};

TEST(runtime, broadcasts_reach_all_and_reductions_take_each_once) {
  constexpr size_t n = 500;
  const auto rt = make(4);
  const auto all = rt->make_array<member>(
      n, [](size_t i) { return i < 400 ? 3 : static_cast<int>(i % 3); }, rt.get());
  ASSERT_TRUE(all) << text_of(all);
  EXPECT_EQ(all->processor_of(0), 3);
  all->broadcast<&member::add>(uint64_t{2});
  const std::vector<size_t> some = {1, 10, 499};
  all->multicast<&member::add>(some, uint64_t{100});
  ASSERT_EQ(text_of(rt->run(enough)), "");
  std::mutex lock;
  std::vector<uint64_t> results;
  const std::function<void(uint64_t)> then = [&](uint64_t v) {
    const std::lock_guard guard(lock);
    results.push_back(v);
  };
  for (size_t i = 0; i < n; i += 3) (*all)[i].move_to(1);
  all->broadcast<&member::give>(&*all, then);
  ASSERT_EQ(text_of(rt->run(enough)), "");
  EXPECT_EQ(results, std::vector<uint64_t>(3, 2 * n + 300 + n * (n - 1) / 2));
}

struct of_processor {
  runtime& rt;
  size_t index;
  const object_group<of_processor>** all;
  uint64_t got = 0, wrong = 0;
  of_processor(size_t i, runtime* r, const object_group<of_processor>** a) : rt(*r), index(i), all(a) {}
  void ping(uint64_t left) {
    wrong += static_cast<size_t>(rt.here()) != index || &(*all)->local() != this;
    ++got;
    if (left > 0) (*all)->send<&of_processor::ping>((rt.here() + 1) % rt.processors(), left - 1);
  }
};

TEST(runtime, a_group_has_an_object_on_each_processor) {
  const auto rt = make(3);
  const object_group<of_processor>* all = nullptr;
  const auto made = rt->make_group<of_processor>(rt.get(), &all);
  all = &made;
  all->broadcast<&of_processor::ping>(uint64_t{999});
  ASSERT_EQ(text_of(rt->run(enough)), "");
  for (int p = 0; p < 3; ++p) {
    EXPECT_EQ(all->look_at(p).got, 1000u);
    EXPECT_EQ(all->look_at(p).wrong, 0u);
  }
}

// Messages at random between threads of the program and processors: quiescence is reported when all have been run.
TEST(runtime, quiescence_is_reported_when_nothing_is_left_and_not_before) {
  const auto rt = make(4);
  std::atomic<int> left = 0, reported = 0;
  std::function<void(int)> spread = [&](int depth) {
    if (depth > 0)
      for (int i = 0; i < 3; ++i) {
        ++left;
        rt->post((rt->here() + i) % 4, [&spread, depth] { spread(depth - 1); });
      }
    --left;
  };
  for (int round = 0; round < 20; ++round) {
    ++left;
    rt->post(round % 4, [&] { spread(6); });
    std::atomic<int> then = -1;
    rt->when_quiet([&] {
      then = left.load();
      ++reported;
    });
    ASSERT_EQ(text_of(rt->run(enough)), "");
    EXPECT_EQ(then, 0);
    EXPECT_EQ(left, 0);
    EXPECT_EQ(reported, round + 1);
  }
}

TEST(runtime, idle_processors_are_reported_and_exit_ends_a_run) {
  std::atomic<int> idle = 0;
  auto made = runtime::create({.processors = 2, .on_idle = [&](int) { ++idle; }});
  ASSERT_TRUE(made);
  runtime& rt = **made;
  for (int i = 0; i < 100'000'000 && idle < 2; ++i) std::this_thread::yield();  // both have nothing to do
  EXPECT_EQ(idle, 2);
  std::function<void()> again = [&] { rt.post(0, again); };
  rt.post(0, [&] {
    rt.exit();
    again();
  });
  EXPECT_EQ(text_of(rt.run(enough)), "");
  EXPECT_FALSE(rt.quiet());
  const auto late = rt.run(1'000'000);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  made->reset();  // with messages on their way
}

struct owner {
  std::shared_ptr<int> held;
  explicit owner(std::shared_ptr<int> h) : held(std::move(h)) {}
  void take(std::shared_ptr<int>) {}
};

TEST(runtime, what_is_destroyed_leaves_nothing) {
  const auto held = std::make_shared<int>(1);
  {
    const auto rt = make(2);
    const auto all = rt->make_array<owner>(10, {}, held);
    ASSERT_TRUE(all);
    (*all)[3].destroy();
    (*all)[3].send<&owner::take>(held);
    ASSERT_EQ(text_of(rt->run(enough)), "");
    EXPECT_EQ(all->look_at(3), nullptr);
    EXPECT_EQ(held.use_count(), 10);
    EXPECT_EQ(rt->statistics(1).dropped, 1u);
    for (int i = 0; i < 100; ++i) (*all)[static_cast<size_t>(i % 10)].send<&owner::take>(held);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(runtime, bad_input_is_named) {
  EXPECT_EQ(runtime::create({.processors = 0}).error().text, "processors = 0: must be 1 ... 1024");
  EXPECT_EQ(runtime::create({.progress_period = 0}).error().text, "progress_period = 0: must be 1 or more");
  const auto rt = make(2);
  EXPECT_EQ(rt->make_array<noted>(3, [](size_t i) { return static_cast<int>(i); }).error().text,
            "make_array: object 2 is placed on processor 2; processors are 0 ... 1");
  const auto all = rt->make_array<noted>(3);
  (*all)[3].send<&noted::note>(1);
  EXPECT_EQ(text_of(rt->run(enough)), "object 3 of an array of 3");
  const auto other = make(2), third = make(2), fourth = make(1);
  other->post(2, [] {});
  EXPECT_EQ(text_of(other->run(enough)), "processor 2: processors are 0 ... 1");
  third->post(1, [] { throw std::runtime_error("no more"); });
  EXPECT_EQ(text_of(third->run(enough)), "an exception left a method: no more");
  const auto mixed = fourth->make_array<noted>(2);
  fourth->post(0, [&] {
    (*mixed)[0].contribute<int>(1, std::plus<>{}, [](int) {});
    (*mixed)[1].contribute<double>(1, std::plus<>{}, [](double) {});
  });
  EXPECT_EQ(text_of(fourth->run(enough)), "contribution 0 of object 1: another type than that of the other objects");
}

}  // namespace
}  // namespace ggas::test
