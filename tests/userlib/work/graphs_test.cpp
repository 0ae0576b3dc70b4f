// SPDX-License-Identifier: Apache-2.0
// Requests of work as graphs.
#include <algorithm>
#include <numeric>

#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

// A chain that is enqueued again is the graph that was recorded, as long as its requests are the same and live.
TEST_P(work, a_graph_is_recorded_once) {
  if (GetParam().how != executor::graph) GTEST_SKIP() << "records nothing";
  make(1);
  if (!rt_) return;
  constexpr uint64_t n = 20, times = 5;
  std::vector<uint64_t> x = {0}, y(3), sum(3);
  std::vector<request> all;
  const auto enqueue_all = [&] {
    rt_->post(0, [&] {
      for (const request& r : all) enqueue(r);
    });
    run();
  };
  for (uint64_t i = 0; i < n; ++i) {
    all.emplace_back(0, 1, 1, add_to, both(x), 1, i);
    if (i > 0) all.back().after(all[i - 1]);
  }
  for (uint64_t t = 1; t <= times; ++t) {
    x[0] += 1000;  // the host's data are read each time
    enqueue_all();
    EXPECT_EQ(x[0], t * (1000 + n * (n - 1) / 2));
    EXPECT_EQ(dispatcher_->statistics().graphs, 1u);
    EXPECT_EQ(dispatcher_->statistics().launches, t * n);
    EXPECT_EQ(dispatcher_->statistics().copies, t * 2 * n);
  }
  const auto kept = dispatcher_->statistics();
  EXPECT_EQ(kept.allocations, 2u);  // one place for all, one range of the host
  EXPECT_GT(kept.graph_bytes, 0u);

  // A request more is another chain; so is one with another buffer.
  all.emplace_back(0, 1, 1, add_to, both(x), 1, 5).after(all[n - 1]);
  enqueue_all();
  EXPECT_EQ(dispatcher_->statistics().graphs, 2u);
  EXPECT_EQ(x[0], times * (1000 + n * (n - 1) / 2) + n * (n - 1) / 2 + 5);

  // Graphs of requests that are no more give their memory back when the next one is recorded.
  const uint64_t before = dispatcher_->statistics().graph_bytes;
  all.clear();
  all.emplace_back(0, 1, 3, add_to, both(y), 3, 1);
  all.emplace_back(0, 1, 3, add_to, both(y), 3, 2).after(all[0]);
  enqueue_all();
  EXPECT_EQ(y, std::vector<uint64_t>(3, 3));
  EXPECT_LT(dispatcher_->statistics().graph_bytes, before);
}

// A graph keeps most of the memory; a request that needs it gets it, and the graph is recorded again later.
TEST_P(work, idle_graphs_give_memory_to_requests) {
  if (GetParam().how != executor::graph) GTEST_SKIP() << "records nothing";
  make(1);
  if (!rt_) return;
  const auto m = dispatcher_->allocate(0, size_t{4} << 20);
  ASSERT_TRUE(m) << text_of(m);
  const auto room = [](size_t bytes) {
    return request("room", 0,
                   [](cluster& c, const stream& s, std::span<void* const> device) {
                     return launch(c, s, 1, 1, add_to, static_cast<uint64_t*>(device[0]), uint64_t{1}, uint64_t{1});
                   })
        .add(buffer<uint64_t>{{false, false, nullptr, bytes, nullptr}});
  };
  std::vector<request> chain = {room(size_t{6} << 20), room(size_t{6} << 20)};
  chain[1].after(chain[0]);
  std::string why;
  request single = room(size_t{7} << 20);
  single.then([&](const result<>& end) { why = text_of(end); });
  for (uint64_t times = 1; times <= 2; ++times) {
    rt_->post(0, [&] {
      for (const request& r : chain) enqueue(r);
    });
    run();
    EXPECT_EQ(dispatcher_->statistics().graphs, times);
    enqueue(single);
    run();
    EXPECT_EQ(why, "");
    EXPECT_EQ(dispatcher_->statistics().graph_bytes, 0u);
  }
  rt_->post(0, [&] {
    for (const request& r : chain) enqueue(r);
  });
  run();
  EXPECT_NE(dispatcher_->statistics().graph_bytes, 0u);
  const auto kept = dispatcher_->allocate(0, size_t{7} << 20);
  EXPECT_TRUE(kept) << text_of(kept);
  EXPECT_EQ(dispatcher_->statistics().graph_bytes, 0u);
}

// Requests whose ranges of host memory overlap in part do not form one graph. If a request is refused only this one
// fails, and those before it have run.
TEST_P(work, a_graph_ends_where_requests_do_not_fit_together) {
  if (blocking()) GTEST_SKIP() << "has one at a time";
  if (by_workers()) GTEST_SKIP() << "refuse the request before it begins";
  make(1);
  if (!rt_) return;
  std::vector<uint64_t> x = {0, 0, 0, 0};
  const std::span<uint64_t> head(x.data(), 3), tail(x.data() + 1, 3);
  std::vector<request> all;
  all.emplace_back(0, 1, 4, add_to, both(head), 3, 1);
  all.emplace_back(0, 1, 4, add_to, both(head), 3, 2);
  all.emplace_back(0, 1, 4, add_to, both(tail), 3, 10);
  all.emplace_back(0, 1, 4, add_to, both(x), 4, 100);
  all.emplace_back(0, 1, 4, add_to, both(x), 4, 200);
  all.emplace_back(0, 1, 5000, add_to, both(x), 4, 1000).named("refused");
  all.emplace_back(0, 1, 4, add_to, both(x), 4, 1000);
  std::vector<std::string> ends;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) all[i].after(all[i - 1]);
    all[i].then([&](const result<>& end) { ends.push_back(text_of(end)); });
  }
  for (int t = 1; t <= 2; ++t) {
    ends.clear();
    rt_->post(0, [&] {
      for (const request& r : all) enqueue(r);
    });
    for (int i = 0; by_hand() && i < 100'000'000 && ends.size() < all.size(); ++i) {
      dispatcher_->poll();
      ASSERT_EQ(text_of(rt_->run(second / 100)).find("device"), std::string::npos);
    }
    run();
    const auto k = static_cast<uint64_t>(t);
    EXPECT_EQ(x, (std::vector<uint64_t>{303 * k, 313 * k, 313 * k, 310 * k}));
    ASSERT_EQ(ends.size(), all.size());
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(ends[i], "");
    EXPECT_NE(ends[5].find("request 'refused' on node 0: "), std::string::npos);
    EXPECT_NE(ends[6].find("not run, as one before it failed"), std::string::npos);
  }
  EXPECT_EQ(nothing_but_graphs(), "");
}

}  // namespace
}  // namespace ggas::test
