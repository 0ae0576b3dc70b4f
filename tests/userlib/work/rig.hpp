// SPDX-License-Identifier: Apache-2.0
// Requests of work on every provider that this program is linked with and by every executor. Skipped for GPUs if there
// is none.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "ggas/work.hpp"
#include "tests/userlib/work/kernels.hpp"

namespace ggas::test {

inline constexpr uint64_t second = 1'000'000'000, enough = 100 * second;

inline const char* name_of(executor e) {
  constexpr const char* names[] = {"fifo", "streams", "blocking", "by_hand", "graph", "workers"};
  return names[static_cast<int>(e)];
}

struct work_target {
  std::string provider;
  executor how;
};

class work : public testing::TestWithParam<work_target> {
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
  // It queues requests before those that they wait for have ended.
  bool goes_ahead() const { return GetParam().how == executor::streams || by_hand(); }
  bool blocking() const { return GetParam().how == executor::blocking; }
  // Until nothing is left. After a failure no request, message or callback uses the test's memory any more.
  void run(uint64_t timeout_ns = enough) {
    if (by_hand())
      while (dispatcher_->poll()) {
      }
    const auto ended = rt_->run(timeout_ns);
    if (!ended) end_all();
    ASSERT_EQ(text_of(ended), "");
  }
  void end_all() {
    dispatcher_->stop();
    const auto quiet = std::make_shared<std::promise<void>>();
    rt_->when_quiet([quiet] { quiet->set_value(); });
    EXPECT_EQ(quiet->get_future().wait_for(std::chrono::nanoseconds(enough)), std::future_status::ready);
  }
  void enqueue(const request& r) { ASSERT_EQ(text_of(dispatcher_->enqueue(r)), ""); }
  uint64_t* pinned(int i, int node = 0) {
    return rt_->with_cluster([&](cluster& c) { return reinterpret_cast<uint64_t*>(c.host_memory(node).base) + 8 * i; });
  }
  // In the pools, next to what the workers have.
  std::string nothing_but_graphs() const {
    auto s = dispatcher_->statistics();
    s.pool_bytes -= at_first_;
    if (s.pool_bytes == 0 && s.graph_bytes == 0) return "";
    const bool kept = GetParam().how == executor::graph && s.graphs > 0 && s.pool_bytes >= s.graph_bytes;
    return kept ? "" : std::to_string(s.pool_bytes) + " bytes, graphs " + std::to_string(s.graph_bytes);
  }
  // Between kept memory and the host.
  template <class T>
  void move(const gpu_memory& m, std::vector<T>& data, bool in) {
    const auto ok = rt_->with_cluster([&](cluster& c) {
      const uint64_t at = m.block()->offset;
      return in ? c.write(m.node(), at, data.data(), data.size() * sizeof(T))
                : c.read(m.node(), at, data.data(), data.size() * sizeof(T));
    });
    EXPECT_EQ(text_of(ok), "");
  }
  int nodes() const {
    return rt_->with_cluster([](cluster& c) { return c.nodes(); });
  }

  std::unique_ptr<runtime> rt_;
  std::unique_ptr<dispatcher> dispatcher_;
  uint64_t at_first_ = 0;  // bytes of the pools
};

}  // namespace ggas::test
