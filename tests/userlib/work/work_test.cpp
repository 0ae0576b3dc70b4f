// SPDX-License-Identifier: Apache-2.0
// Requests of work on every provider that this program is linked with and by every executor: buffers, order, callbacks,
// dependencies, errors, ends. Skipped for GPUs if there is none.
#include "ggas/work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "tests/userlib/work/kernels.hpp"

namespace ggas::test {
namespace {

constexpr uint64_t second = 1'000'000'000, enough = 100 * second;

const char* name_of(executor e) {
  constexpr const char* names[] = {"fifo", "streams", "blocking", "by_hand", "graph", "workers"};
  return names[static_cast<int>(e)];
}

struct target {
  std::string provider;
  executor how;
};

class work : public testing::TestWithParam<target> {
 protected:
  void SetUp() override { make(4); }
  void make(int processors, dispatcher_config cfg = {}) {
    const std::string provider = GetParam().provider;
    cluster_config c{.provider = provider.substr(0, provider.find('_')),
                     .segment_bytes = 16 << 20,
                     .host_bytes = 4 << 20,
                     .nic = "model"};
    c.nodes = c.provider == "cuda" ? 0 : 2;
    if (c.provider != provider) c.overrides = {"shm.threads=1"};
    auto made = cluster::create(c);
    if (!made && c.provider == "cuda") GTEST_SKIP() << made.error().text;
    ASSERT_TRUE(made) << made.error().text;
    dispatcher_.reset();
    auto rt = runtime::create({.processors = processors}, std::move(*made));
    ASSERT_TRUE(rt) << text_of(rt);
    rt_ = std::move(*rt);
    cfg.how = GetParam().how;
    cfg.pinned_by_hand = 4096;
    if (by_workers() && !cfg.workers.table) cfg.workers = {.table = &test_work, .groups = 2, .blocks = 2};
    auto d = dispatcher::create(*rt_, cfg);
    ASSERT_TRUE(d) << text_of(d);
    dispatcher_ = std::move(*d);
    at_first_ = dispatcher_->statistics().pool_bytes;
  }
  void TearDown() override { dispatcher_.reset(); }
  bool by_hand() const { return GetParam().how == executor::by_hand; }
  bool by_workers() const { return GetParam().how == executor::workers; }
  bool blocking() const { return GetParam().how == executor::blocking; }
  // Until nothing is left.
  void run() {
    if (by_hand())
      while (dispatcher_->poll()) {
      }
    ASSERT_EQ(text_of(rt_->run(enough)), "");
  }
  void enqueue(const request& r) { ASSERT_EQ(text_of(dispatcher_->enqueue(r)), ""); }
  uint64_t* pinned(int i) {
    return rt_->with_cluster([&](cluster& c) { return reinterpret_cast<uint64_t*>(c.host_memory(0).base) + 8 * i; });
  }
  // In the pools, next to what the workers have.
  std::string nothing_but_graphs() const {
    auto s = dispatcher_->statistics();
    s.pool_bytes -= at_first_;
    if (s.pool_bytes == 0 && s.graph_bytes == 0) return "";
    const bool kept = GetParam().how == executor::graph && s.graphs > 0 && s.pool_bytes >= s.graph_bytes;
    return kept ? "" : std::to_string(s.pool_bytes) + " bytes, graphs " + std::to_string(s.graph_bytes);
  }
  int nodes() const {
    return rt_->with_cluster([](cluster& c) { return c.nodes(); });
  }

  std::unique_ptr<runtime> rt_;
  std::unique_ptr<dispatcher> dispatcher_;
  uint64_t at_first_ = 0;  // bytes of the pools
};

std::vector<target> targets() {
  std::vector<target> all;
  for (const char* name : {"shm", "shm_threads", "sim", "cuda"}) {
    const std::string provider = std::string(name).substr(0, std::string(name).find('_'));
    const auto made = cluster::create({.provider = provider, .nodes = -1});
    if (made.error().text.find("linked with") != std::string::npos) continue;
    for (const executor e :
         {executor::fifo, executor::streams, executor::blocking, executor::by_hand, executor::graph, executor::workers})
      all.push_back({name, e});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(by, work, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.provider + "_" + name_of(i.param.how); });

TEST_P(work, buffers_are_copied_as_their_kind_says) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{37}, size_t{1001}}) {
    std::vector<uint32_t> rw(n), ro(n), wo(n, 7);
    std::iota(rw.begin(), rw.end(), 1u);
    std::iota(ro.begin(), ro.end(), 1000u);
    const auto rw0 = rw, ro0 = ro;
    enqueue(request(0, 2, 32, mix, both(rw), in(ro), out(wo), n));
    run();
    EXPECT_EQ(ro, ro0);
    for (size_t i = 0; i < n; ++i) {
      ASSERT_EQ(rw[i], 3 * rw0[i] + ro0[i]);
      ASSERT_EQ(wo[i], rw[i] ^ ro0[i]);
    }
  }
  EXPECT_EQ(nothing_but_graphs(), "");
}

TEST_P(work, launches_have_the_shape_that_was_asked_for) {
  if (by_workers()) GTEST_SKIP() << "have blocks of their own";
  std::vector<uint32_t> found(7), small(7);
  enqueue(request(0, {3, 2}, with_shared({16, 4}, 5000), note_shape, out(found), 5000));
  enqueue(request(0, 1, 1, note_shape, out(small), 0));
  run();
  EXPECT_EQ(found, (std::vector<uint32_t>{3, 2, 1, 16, 4, 1, 5000}));
  EXPECT_EQ(small, (std::vector<uint32_t>{1, 1, 1, 1, 1, 1, 0}));
}

// What a kernel left on the GPU the next one finds; what the host changes between is not seen.
TEST_P(work, memory_that_is_kept_stays_on_the_gpu) {
  const auto m = dispatcher_->allocate(0, 80);
  ASSERT_TRUE(m) << text_of(m);
  std::vector<uint64_t> x(10, 5);
  request first(0, 1, 32, add_to, in(x).in_memory(*m), 10, 1), second(0, 1, 32, add_to, kept<uint64_t>(*m), 10, 10),
      third(0, 1, 32, add_to, out(x).in_memory(*m), 10, 100);
  enqueue(first);
  run();
  std::ranges::fill(x, 1000);
  enqueue(second);
  run();
  enqueue(third);
  run();
  EXPECT_EQ(x, std::vector<uint64_t>(10, 116));
  EXPECT_EQ(dispatcher_->statistics().copies, by_workers() ? 0u : 2u);  // workers copy themselves
}

TEST_P(work, callbacks_come_once_after_the_copies_on_the_owner) {
  struct object {
    size_t index;
    runtime& rt;
    dispatcher& d;
    std::vector<uint64_t> x = std::vector<uint64_t>(33);
    int times = 0, wrong = 0;
    object(size_t i, runtime* r, dispatcher* w) : index(i), rt(*r), d(*w) {}
    void go() {
      request r(0, 1, 32, add_to, both(x), x.size(), index);
      r.then([this, at = rt.here()](const result<>& end) {
        wrong += !end || rt.here() != at || std::ranges::count(x, index * static_cast<size_t>(times + 1)) != 33;
        if (++times < 5) go();
      });
      wrong += !d.enqueue(r);
    }
  };
  const auto all = rt_->make_array<object>(40, {}, rt_.get(), dispatcher_.get());
  ASSERT_TRUE(all);
  all->broadcast<&object::go>();
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < 200; ++i) dispatcher_->poll();
  run();
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(all->look_at(i)->times, 5);
    EXPECT_EQ(all->look_at(i)->wrong, 0);
  }
}

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

// Ranges of the host that overlap in part are not of one graph; a request that is refused fails alone, and those
// before it have run.
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

// Requests that are ready together share a launch; each has its own data and end, and one that fails fails alone.
TEST_P(work, identical_requests_are_one_launch) {
  if (GetParam().how != executor::streams) {
    EXPECT_EQ(text_of(dispatcher::create(*rt_, {.how = GetParam().how, .merged = &test_work})),
              "merged: requests are merged by executor::streams only");
    return;
  }
  EXPECT_EQ(text_of(dispatcher::create(*rt_, {.merged = &test_work, .most_merged = 1})),
            "most_merged = 1: must be 2 ... 65536");
  make(1, {.in_flight = 2, .merged = &test_work, .most_merged = 64});
  if (!rt_) return;
  constexpr size_t n = 200;
  std::vector<uint64_t> x(n), sizes(n);
  std::vector<std::vector<uint32_t>> rw(n), ro(n), wo(n);
  std::vector<request> all;
  std::vector<std::string> ends(n + 5);
  for (size_t i = 0; i < n; ++i) {
    rw[i].assign(i % 7 * 30, static_cast<uint32_t>(i));
    ro[i].assign(rw[i].size(), 5);
    wo[i].resize(rw[i].size());
    all.emplace_back(0, 2, 32, mix, both(rw[i]), in(ro[i]), out(wo[i]), rw[i].size());
  }
  for (int i = 0; i < 5; ++i) all.emplace_back(0, 3, 32, fail_with, i == 2 ? 3 : 0);
  *pinned(0) = 0;
  std::vector<request> first;
  for (int i = 0; i < 2; ++i) first.emplace_back(0, 1, 1, wait_word, pinned(0), 1);
  rt_->post(0, [&] {
    for (const request& r : first) enqueue(r);
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].then([&, i](const result<>& end) { ends[i] = text_of(end); });
      enqueue(all[i]);
    }
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  run();
  for (size_t i = 0; i < n; ++i) {
    EXPECT_EQ(ends[i], "");
    EXPECT_EQ(rw[i], std::vector<uint32_t>(rw[i].size(), static_cast<uint32_t>(3 * i + 5)));
    EXPECT_EQ(wo[i], std::vector<uint32_t>(rw[i].size(), static_cast<uint32_t>(3 * i + 5) ^ 5));
    EXPECT_EQ(ro[i], std::vector<uint32_t>(rw[i].size(), 5));
  }
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(ends[n + i], i == 2 ? "request 'fail_with' on node 0: its function returned: peer error" : "");
  const auto s = dispatcher_->statistics();
  EXPECT_EQ(s.launches + s.merged, n + 7);
  // Two that wait, the second maybe with the first; then 64 at a time.
  EXPECT_LE(s.launches, 2 + n / 64 + 1 + 2);
  EXPECT_EQ(s.failed, 1u);
  EXPECT_EQ(nothing_but_graphs(), "");
}

// No room for all of them at once: they run one by one.
TEST_P(work, requests_that_do_not_fit_together_are_not_merged) {
  if (GetParam().how != executor::streams || GetParam().provider == "sim") GTEST_SKIP() << "no merging, or long";
  make(1, {.in_flight = 1, .merged = &test_work});
  if (!rt_) return;
  std::vector<std::vector<uint64_t>> x(12, std::vector<uint64_t>(100'000, 1));
  *pinned(0) = 0;
  request first(0, 1, 1, wait_word, pinned(0), 1);
  rt_->post(0, [&] {
    enqueue(first);
    for (auto& one : x) enqueue(request(0, 1, 32, add_to, both(one), uint64_t{3}, uint64_t{1}));
    __atomic_store_n(pinned(0), uint64_t{1}, __ATOMIC_RELEASE);
  });
  run();
  for (const auto& one : x) EXPECT_EQ(std::accumulate(one.begin(), one.end(), uint64_t{0}), 100'003u);
  EXPECT_EQ(dispatcher_->statistics().failed, 0u);
}

TEST_P(work, memory_of_pools_is_used_again) {
  std::vector<uint64_t> x(1000);
  request r(0, 1, 32, add_to, both(x), x.size(), 1);
  for (int i = 0; i < 50; ++i) {
    enqueue(r);
    run();
  }
  EXPECT_EQ(x, std::vector<uint64_t>(1000, 50));
  EXPECT_EQ(nothing_but_graphs(), "");
  // Kept and pinned: no allocation at all.
  const auto m = dispatcher_->allocate(0, 8);
  ASSERT_TRUE(m);
  *pinned(1) = 1;
  const auto before = dispatcher_->statistics().allocations;
  const std::span<uint64_t> word(pinned(1), 1);
  request again(0, 1, 1, add_to, both(word).in_memory(*m), 1, 1);
  for (int i = 0; i < 50; ++i) {
    enqueue(again);
    run();
  }
  EXPECT_EQ(*pinned(1), 51u);
  EXPECT_EQ(dispatcher_->statistics().allocations, before);
}

TEST_P(work, bad_input_is_named) {
  const auto refused = [&](const request& r) {
    const auto ok = dispatcher_->enqueue(r);
    return ok ? "" : ok.error().text;
  };
  std::vector<uint64_t> x(4);
  const std::span<uint64_t> nothing(static_cast<uint64_t*>(nullptr), 4);
  EXPECT_EQ(refused(request(nodes(), 1, 1, add_to, both(x), 4, 1)),
            "request 'add_to' on node " + std::to_string(nodes()) + ": nodes are 0 ... " + std::to_string(nodes() - 1));
  EXPECT_EQ(refused(request(0, 1, 1, add_to, both(nothing), 4, 1)), "request 'add_to', buffer 0: null, of 32 bytes");
  EXPECT_EQ(refused(request("none", 0, {})), "request 'none': nothing to launch");
  if (by_workers()) {
    EXPECT_EQ(refused(request(0, 1, 5000, add_to, both(x), 4, 1)),
              "request 'add_to': blocks of 5000 x 1 x 1 threads: those of the workers have 32 x 1 x 1");
    EXPECT_EQ(refused(request(0, 1, with_shared(32, 8), add_to, both(x), 4, 1)),
              "request 'add_to': 8 shared bytes: the workers have 0");
    EXPECT_EQ(refused(request(0, {3, 0, 1}, 32, add_to, both(x), 4, 1)),
              "request 'add_to': a grid of 3 x 0 x 1 blocks");
    EXPECT_EQ(refused(request(0, 1, 32, not_in_the_table, 4)),
              "request 'not_in_the_table': its kernel is not in the table 'test_work' of the workers");
    EXPECT_EQ(refused(request(0, 1, 32, add_one, 4).in_own_stream()), "request 'add_one': workers have no streams");
    EXPECT_EQ(
        refused(request("by hand", 0, [](cluster&, const stream&, std::span<void* const>) { return result<>(); })),
        "request 'by hand': workers run kernels of their table, no function that launches");
  }
  EXPECT_EQ(refused(request(0, 1, 1, add_to, kept<uint64_t>({}), 4, 1)),
            "request 'add_to', buffer 0: its memory of the GPU was freed, or never allocated");
  auto m = dispatcher_->allocate(0, 8);
  ASSERT_TRUE(m);
  EXPECT_EQ(refused(request(0, 1, 1, add_to, in(x).in_memory(*m), 4, 1)),
            "request 'add_to', buffer 0: 32 bytes in memory of 8");
  request late(0, 1, 1, add_to, kept<uint64_t>(*m), 1, 1);
  m->free();
  EXPECT_EQ(refused(late), "request 'add_to', buffer 0: its memory of the GPU was freed, or never allocated");
  EXPECT_FALSE(dispatcher_->allocate(0, 0));
  EXPECT_EQ(dispatcher_->allocate(0, size_t{1} << 40).error().code, errc::out_of_memory);
  EXPECT_EQ(dispatcher::create(*rt_, {.in_flight = 0}).error().text, "in_flight = 0: must be 1 ... 64");

  // By callbacks.
  std::vector<std::string> reported;
  const auto tell = [&](const result<>& end) { reported.push_back(text_of(end)); };
  const auto fails = [&](request r) {
    enqueue(r.then(tell));
    run();
    return reported.empty() ? "no callback" : reported.back();
  };
  if (!by_workers()) {
    EXPECT_NE(fails(request(0, 1, 5000, add_to, both(x), 4, 1)).find("request 'add_to' on node 0: "),
              std::string::npos);
    EXPECT_NE(fails(request(0, 1, with_shared(32, 1 << 20), add_to, both(x), 4, 1)), "");
  }
  std::vector<uint64_t> large((size_t{32} << 20) / 8);
  EXPECT_NE(fails(request(0, 1, 1, add_to, both(large), 1, 1)).find("no room for"), std::string::npos);
  EXPECT_EQ(x, std::vector<uint64_t>(4));
  EXPECT_EQ(dispatcher_->statistics().failed, by_workers() ? 1u : 3u);
  if (blocking()) return;
  request a(0, 1, 1, add_to, both(x), 4, 1), b(0, 1, 1, add_to, both(x), 4, 1);
  a.named("a").after(b).then(tell);
  b.named("b").after(a).then(tell);
  reported.clear();
  enqueue(a);
  EXPECT_NE(refused(a), "");
  enqueue(b);
  run();
  std::ranges::sort(reported);
  EXPECT_EQ(reported,
            (std::vector<std::string>{
                "request 'a' on node 0: not run, as one before it failed: request 'b' on node 0: the requests "
                "that it waits for wait for it",
                "request 'b' on node 0: the requests that it waits for wait for it"}));
}

// A kernel of the host engine that fails: all that is under way ends with the text, and what comes later works.
TEST_P(work, a_fault_reaches_the_callbacks) {
  if (by_workers()) GTEST_SKIP() << "workers.a_fault_reaches_the_callbacks";
  if (GetParam().provider == "cuda") GTEST_SKIP() << "a GPU is lost by it";
  std::vector<uint64_t> x = {1};
  std::string reported, after;
  request bad("bad", 0, [](cluster& c, const stream& s, std::span<void* const>) {
    return c.launch(
        s, 1, 1, [] { throw std::runtime_error("no more"); }, "bad");
  });
  bad.then([&](const result<>& end) { reported = text_of(end); });
  request next(0, 1, 1, add_to, both(x), 1, 1);
  next.after(bad).then([&](const result<>& end) { after = text_of(end); });
  enqueue(bad);
  enqueue(next);
  run();
  EXPECT_NE(reported.find("no more"), std::string::npos) << reported;
  // A graph fails as a whole.
  const std::string why = GetParam().how == executor::graph ? "no more" : "not run, as one before it failed";
  EXPECT_NE(after.find(why), std::string::npos) << after;
  enqueue(request(0, 1, 1, add_to, both(x), 1, 1));
  run();
  EXPECT_EQ(x[0], 2u);
}

TEST_P(work, stopping_tells_all_that_waits) {
  if (blocking()) GTEST_SKIP() << "nothing waits";
  std::vector<uint64_t> x = {1};
  const request never(0, 1, 1, add_to, both(x), 1, 1);
  std::vector<std::string> reported;
  request a(0, 1, 1, add_to, both(x), 1, 1), b(0, 1, 1, add_to, both(x), 1, 1);
  a.after(never).then([&](const result<>& end) { reported.push_back(text_of(end)); });
  b.after(a).then([&](const result<>& end) { reported.push_back(text_of(end)); });
  enqueue(a);
  enqueue(b);
  dispatcher_->stop();
  EXPECT_EQ(text_of(dispatcher_->enqueue(never)), "request 'add_to': the dispatcher was stopped");
  ASSERT_EQ(text_of(rt_->run(enough)), "");
  ASSERT_EQ(reported.size(), 2u);
  for (const auto& text : reported) EXPECT_NE(text.find("the dispatcher was stopped"), std::string::npos) << text;
  EXPECT_EQ(x[0], 1u);
}

// ---- random requests, enqueued by objects on all processors, with the dependencies that their data need

struct random_plan {
  struct step {
    size_t a, b, c;
    int node;
    std::set<size_t> after;
  };
  std::vector<std::vector<uint32_t>> data;
  std::vector<step> steps;

  random_plan(size_t n, int nodes, unsigned seed) {
    std::mt19937 random(seed);
    data.resize(48);
    for (auto& d : data) {
      d.resize(random() % 5 == 0 ? 0 : random() % 200);
      for (auto& v : d) v = static_cast<uint32_t>(random());
    }
    std::vector<size_t> writer(data.size(), n);
    std::vector<std::set<size_t>> readers(data.size());
    for (size_t k = 0; k < n; ++k) {
      step s{random() % data.size(), random() % data.size(), 0, static_cast<int>(random()) % nodes, {}};
      s.node = s.node < 0 ? -s.node : s.node;
      while (s.b == s.a) s.b = random() % data.size();
      do s.c = random() % data.size();
      while (s.c == s.a || s.c == s.b);
      for (const size_t d : {s.a, s.b, s.c})
        if (writer[d] != n) s.after.insert(writer[d]);
      for (const size_t d : {s.b, s.c}) {
        s.after.insert(readers[d].begin(), readers[d].end());
        readers[d].clear();
        writer[d] = k;
      }
      readers[s.a].insert(k);
      steps.push_back(s);
    }
  }
  // The sums, and the data as they are in the end.
  std::vector<uint64_t> run_here() {
    std::vector<uint64_t> sums;
    for (size_t k = 0; k < steps.size(); ++k) {
      auto &a = data[steps[k].a], &b = data[steps[k].b], &c = data[steps[k].c];
      sums.push_back(
          random_step_of(a.data(), a.size(), b.data(), b.size(), c.data(), c.size(), static_cast<uint32_t>(k)));
    }
    return sums;
  }
};

TEST_P(work, random_requests_give_what_they_give_one_by_one) {
  if (blocking()) GTEST_SKIP() << "would wait for what is not enqueued yet";
  const char* const count = std::getenv("GGAS_TEST_REQUESTS");
  const size_t n = GetParam().provider == "sim" ? 150 : count ? std::strtoul(count, nullptr, 10) : 1500;
  random_plan plan(n, nodes(), 20261128);
  random_plan here = plan;
  const auto expected = here.run_here();
  std::vector<std::vector<uint64_t>> sums(n, std::vector<uint64_t>(1));
  std::vector<std::atomic<int>> times(n);
  std::atomic<int> wrong = 0;
  std::vector<request> all;
  for (size_t k = 0; k < n; ++k) {
    const auto& s = plan.steps[k];
    auto &a = plan.data[s.a], &b = plan.data[s.b], &c = plan.data[s.c];
    all.emplace_back(s.node, 1, 32, random_step, in(a), a.size(), both(b), b.size(), out(c), c.size(), out(sums[k]),
                     static_cast<uint32_t>(k));
    for (const size_t before : s.after) all[k].after(all[before]);
  }
  struct object {
    runtime& rt;
    dispatcher& d;
    object(runtime* r, dispatcher* w) : rt(*r), d(*w) {}
    void enqueue(request* r, std::function<void(const result<>&, int)> then) {
      r->then([then, at = rt.here()](const result<>& end) { then(end, at); });
      if (!d.enqueue(*r)) std::abort();
    }
  };
  const auto objects = rt_->make_array<object>(1000, {}, rt_.get(), dispatcher_.get());
  ASSERT_TRUE(objects);
  for (size_t k = 0; k < n; ++k)
    (*objects)[k % 1000].send<&object::enqueue>(&all[k], [&, k](const result<>& end, int at) {
      ++times[k];
      wrong += !end || rt_->here() != at || sums[k][0] != expected[k];
    });
  for (int i = 0; by_hand() && i < 100'000'000 && dispatcher_->statistics().ended < n; ++i) dispatcher_->poll();
  run();
  EXPECT_EQ(wrong, 0);
  for (size_t k = 0; k < n; ++k) ASSERT_EQ(times[k], 1) << k;
  EXPECT_EQ(plan.data, here.data);
  EXPECT_EQ(dispatcher_->statistics().launches, by_workers() ? static_cast<size_t>(nodes()) : n);
  EXPECT_EQ(nothing_but_graphs(), "");
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
