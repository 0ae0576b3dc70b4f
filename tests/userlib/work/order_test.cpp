// SPDX-License-Identifier: Apache-2.0
// Requests of work: dependencies, order, priorities, how often progress is made.
#include <algorithm>
#include <array>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

// Each depends on the one before it; they are enqueued from the last to the first.
TEST_P(work, a_chain_of_dependent_requests_is_in_order) {
  if (blocking()) GTEST_SKIP() << "would wait for what is not enqueued yet";
  constexpr int n = 200;
  std::vector<uint64_t> x = {1};
  uint64_t expected = 1;
  std::vector<request> all;
  for (int i = 0; i < n; ++i) {
    all.emplace_back(0, 1, 1, add_to, both(x), 1, i);
    expected += static_cast<uint64_t>(i);
    if (i > 0) all.back().after(all[static_cast<size_t>(i) - 1]);
  }
  int well = 0;
  for (request& r : all) r.then([&](const result<>& end) { well += end.has_value(); });
  for (int i = n - 1; i >= 0; --i) enqueue(all[static_cast<size_t>(i)]);
  run();
  EXPECT_EQ(x[0], expected);
  EXPECT_EQ(well, n);
}

// Words of pinned memory and events of the cluster hold a request back, and so does a failure of one before.
TEST_P(work, requests_begin_when_all_that_they_wait_for_is_there) {
  if (blocking()) GTEST_SKIP() << "would wait for what comes later";
  std::vector<uint64_t> x = {1};
  *pinned(0) = 2;
  request r(0, 1, 1, add_to, both(x), 1, 1);
  bool done = false;
  r.after(pinned(0), 3).then([&](const result<>& end) { done = end.has_value(); });
  enqueue(r);
  for (int i = 0; by_hand() && i < 10; ++i) dispatcher_->poll();
  EXPECT_EQ(rt_->run(second / 50).error().code, errc::timed_out);
  EXPECT_FALSE(done);
  __atomic_store_n(pinned(0), uint64_t{3}, __ATOMIC_RELEASE);
  run();
  EXPECT_TRUE(done);
  EXPECT_EQ(x[0], 2u);
}

// Early: a request without the dependency sees what was there before; with it it sees the new value.
TEST_P(work, only_a_dependency_makes_data_of_another_request_sure) {
  if (blocking()) GTEST_SKIP() << "takes them one after the other";
  if (GetParam().provider == "shm_threads") GTEST_SKIP() << "begins nothing more while kernels run";
  std::vector<uint64_t> x = {1}, early(1), late(1);
  *pinned(0) = 0;
  request wait(0, 1, 1, wait_word, pinned(0), 1), change(0, 1, 1, add_to, both(x), 1, 1),
      without(1 % nodes(), 1, 1, look, out(early), in(x)), with(1 % nodes(), 1, 1, look, out(late), in(x));
  change.after(wait);
  with.after(change);
  without.then([&](const result<>&) { __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE); });
  rt_->post(0, [&] { EXPECT_TRUE(dispatcher_->enqueue(wait)); });
  rt_->post(1, [&] { EXPECT_TRUE(dispatcher_->enqueue(without)); });
  rt_->post(2, [&] { EXPECT_TRUE(dispatcher_->enqueue(change)); });
  rt_->post(3, [&] { EXPECT_TRUE(dispatcher_->enqueue(with)); });
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < 4; ++i) dispatcher_->poll();
  run();
  EXPECT_EQ(early[0], 1u);
  EXPECT_EQ(late[0], 2u);
}

// A kernel that waits for the host is under way; what comes after it is queued, on both nodes, as far as `ahead` says
// and the GPU alone can keep the order.
TEST_P(work, requests_are_queued_before_those_that_they_wait_for_have_ended) {
  if (!goes_ahead()) GTEST_SKIP() << "queues nothing ahead";
  make(1, {.ahead = 3});
  if (!rt_) return;
  const int other = 1 % nodes();
  *pinned(0) = *pinned(0, other) = 0;
  std::vector<gpu_memory> m;
  std::vector<uint64_t> x = {1};
  for (const int node : {0, other, 0}) {
    m.push_back(*dispatcher_->allocate(node, 8));
    move(m.back(), x, true);
  }
  uint64_t* const seen = pinned(1);
  const auto add = [&](size_t i) { return request(m[i].node(), 1, 1, add_to, kept<uint64_t>(m[i]), 1, 1); };
  request wait(0, 1, 1, wait_word, pinned(0), 1), there = request(other, 1, 1, wait_word, pinned(0, other), 1);
  request first = add(0), second = add(1);  // second: on the other node, after both
  request read(0, 1, 1, look, out(std::span(seen, 1)), kept<const uint64_t>(m[0]));
  request to_host(0, 1, 1, add_to, both(x), 1, 1), after_host = add(0), fourth = add(2);
  first.after(wait);
  read.after(first);
  to_host.after(read);
  after_host.after(to_host);
  fourth.after(wait).after(first);
  uint64_t queued = 0;
  const auto enqueue_all = [&] {
    for (request r : {wait, there, first, read, to_host, after_host, second, fourth})
      r.then([](const result<>& end) { EXPECT_EQ(text_of(end), ""); });
    for (const request& r : {wait, there, first, read, to_host, after_host}) enqueue(r);
    EXPECT_TRUE(dispatcher_->enqueue(second, std::array{there, first}));
    enqueue(fourth);
    for (int i = 0; by_hand() && i < 10; ++i) dispatcher_->poll();
    queued = dispatcher_->statistics().launches;
    for (const int node : {0, other}) __atomic_store_n(pinned(0, node), uint64_t{1}, __ATOMIC_RELEASE);
  };
  by_hand() ? enqueue_all() : rt_->post(0, enqueue_all);
  run();
  // Not: after the copy that the host makes; after a stream whose last request is another one.
  EXPECT_EQ(queued, 6u);
  EXPECT_EQ(*seen, 2u);
  EXPECT_EQ(x[0], 2u);
  for (size_t i = 0; i < m.size(); ++i) {
    move(m[i], x, false);
    EXPECT_EQ(x[0], i == 0 ? 3u : 2u);
  }
}

TEST_P(work, a_thousand_requests_of_a_processor_begin_in_order_and_higher_priorities_first) {
  if (blocking()) GTEST_SKIP() << "has one at a time";
  make(1, {.in_flight = 1});
  if (!rt_) return;
  std::vector<int> order;
  *pinned(0) = 0;
  std::vector<request> all;
  all.emplace_back(0, 1, 1, wait_word, pinned(0), 1);
  std::vector<uint64_t> x(200);
  for (int i = 1; i < 200; ++i) {
    all.emplace_back(0, 1, 1, add_to, both(std::span(&x[static_cast<size_t>(i)], 1)), 1, i);
    all.back().priority(i % 3 == 0 ? 5 : 0).then([&, i](const result<>&) { order.push_back(i); });
  }
  rt_->post(0, [&] {
    for (const request& r : all) EXPECT_EQ(text_of(dispatcher_->enqueue(r)), "");
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < 200; ++i) dispatcher_->poll();
  run();
  ASSERT_EQ(order.size(), 199u);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], i);
  if (GetParam().how != executor::fifo) return;
  // All were enqueued before the first one ended. Each priority is in the order of enqueueing.
  EXPECT_TRUE(std::is_sorted(order.begin() + 66, order.end()));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.begin() + 66));
}

// A stream with multiprocessors of its own, where the provider has them.
TEST_P(work, a_stream_has_the_multiprocessors_that_it_was_given) {
  if (GetParam().how != executor::streams) GTEST_SKIP() << "once a provider";
  std::vector<uint32_t> ids(4096);
  const auto m = dispatcher_->allocate(0, ids.size() * 4);
  ASSERT_TRUE(m);
  const auto how = rt_->with_cluster([&](cluster& c) -> result<unsigned> {
    const auto s = c.make_stream_on(0, 16);
    if (!s) return s.error();
    if (auto ok = launch(c, *s, 4096, 256, note_multiprocessor, static_cast<uint32_t*>(m->address())); !ok)
      return ok.error();
    if (const auto ran = c.run(enough); !ran) return ran.error();
    if (auto ok = c.read(0, m->block()->offset, ids.data(), ids.size() * 4); !ok) return ok.error();
    return c.multiprocessors(*s);
  });
  if (GetParam().provider != "cuda") {
    EXPECT_EQ(how.error().code, errc::unsupported);
    return;
  }
  if (!how) GTEST_SKIP() << how.error().text;
  std::ranges::sort(ids);
  const auto different = std::unique(ids.begin(), ids.end()) - ids.begin();
  EXPECT_GE(*how, 16u);
  EXPECT_LE(different, static_cast<ptrdiff_t>(*how));
  EXPECT_GE(different, 8);
}

// The period counts messages: a processor that is busy makes a call every so many of them.
TEST(work_period, progress_is_made_as_often_as_the_period_says) {
  for (const unsigned period : {1u, 10u, 100u}) {
    auto made = cluster::create({.provider = "shm", .nodes = 1});
    ASSERT_TRUE(made);
    auto rt = runtime::create({.processors = 1, .progress_period = period}, std::move(*made));
    ASSERT_TRUE(rt);
    auto d = dispatcher::create(**rt, {.how = executor::fifo});
    ASSERT_TRUE(d);
    constexpr uint64_t messages = 10'000;
    uint64_t calls = 0;
    std::function<void(uint64_t)> next = [&](uint64_t left) {
      if (left == messages) calls = (*rt)->statistics(0).progress_calls;
      if (left > 0) return (*rt)->post(0, [&next, left] { next(left - 1); });
      calls = (*rt)->statistics(0).progress_calls - calls;
    };
    (*rt)->post(0, [&] { next(messages); });
    ASSERT_EQ(text_of((*rt)->run(enough)), "");
    EXPECT_NEAR(static_cast<double>(calls), static_cast<double>(messages / period), 1.0);
  }
}

}  // namespace
}  // namespace ggas::test
