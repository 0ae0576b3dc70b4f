// SPDX-License-Identifier: Apache-2.0
// Where the tests of the device API run: the same tests on every provider that kernels can run on here.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "ggas/ggas.cuh"
#ifdef GGAS_TEST_SIM
#include "tests/sim/model_core.hpp"
#include "userlib/cluster/providers/sim/sim_cluster.hpp"
#endif

namespace ggas::test {

struct target {
  std::string provider = "shm";
  int nodes = 2;
  bool threads = false;    // shm: a host thread for each node
  bool reference = false;  // sim: with the reference model for NIC
  queue_config queues = {};
  std::string label = {};
  std::string nic = "rtl", topology = "auto";  // sim

  bool simulated() const { return provider == "sim"; }
  std::string name() const { return provider + std::to_string(nodes) + (threads ? "threads" : "") + label; }
  friend void PrintTo(const target& t, std::ostream* os) { *os << t.name(); }
  // Long enough for what must happen, and short enough to wait for what must not; in the time of the provider.
  uint64_t enough_ns() const { return simulated() ? 20'000'000 : 60'000'000'000; }
  uint64_t short_ns() const { return simulated() ? 20'000 : 20'000'000; }

  cluster_config config() const {
    cluster_config c;
    c.provider = provider;
    c.nodes = nodes;
    c.segment_bytes = 1 << 20;
    c.host_bytes = 1 << 20;
    c.queues = queues;
    c.nic = nic;
    c.topology = topology;
    if (threads) c.overrides = {"shm.threads=1"};
    return c;
  }
};

inline std::vector<target> targets() {
  std::vector<target> all;
  for (int nodes = 1; nodes <= 8; ++nodes) all.push_back({.nodes = nodes});
  for (int nodes : {2, 3, 8}) all.push_back({.nodes = nodes, .threads = true});
#ifdef GGAS_TEST_SIM
  all.push_back({.provider = "sim", .nodes = 2});
#endif
  return all;
}

inline int right_of(int node) { return (node + 1) % ggas_nodes(); }

// Configurations in which kernels may see different memory: few and many nodes with a host thread for each, and in the
// simulator the RTL of the NIC and the model.
inline std::vector<target> both_nic_targets() {
  std::vector<target> all{{.nodes = 1}, {.nodes = 2}, {.nodes = 3}, {.nodes = 8}, {.nodes = 3, .threads = true}};
#ifdef GGAS_TEST_SIM
  all.push_back({.provider = "sim", .nodes = 2});
  for (int nodes : {1, 2, 4}) all.push_back({.provider = "sim", .nodes = nodes, .label = "model", .nic = "model"});
#endif
  return all;
}

// Targets whose NICs copy stores to all other nodes.
inline std::vector<target> copying_targets() {
#ifdef GGAS_TEST_SIM
  return {{.provider = "sim", .nodes = 3, .label = "full", .topology = "full"},
          {.provider = "sim", .nodes = 8, .label = "torus", .topology = "torus:2x2x2"},
          {.provider = "sim", .nodes = 8, .label = "model", .nic = "model", .topology = "torus:2x2x2"}};
#else
  return {};
#endif
}

inline result<std::unique_ptr<cluster>> make_cluster(const target& t, const cluster_config& cfg) {
#ifdef GGAS_TEST_SIM
  if (t.reference) {
    return userlib::make_sim_cluster(cfg, [](unsigned width, const nic::host_config& h, const char*) {
      return std::make_unique<test::model_core>(width, h);
    });
  }
#endif
  return cluster::create(cfg);
}

// A cluster and shorthands around it.
class api_test : public testing::TestWithParam<target> {
 public:
  void SetUp() override { make(GetParam().config()); }

  void make(const cluster_config& cfg) {
    auto c = make_cluster(GetParam(), cfg);
    ASSERT_TRUE(c) << c.error().text;
    cluster_ = std::move(*c);
  }

  int nodes() const { return GetParam().nodes; }
  uint64_t enough() const { return GetParam().enough_ns(); }
  uint64_t brief() const { return GetParam().short_ns(); }
  bool simulated() const { return GetParam().simulated(); }

  // User memory of a node as the host sees it, and its offset for kernels.
  uint64_t base() const { return cluster_->device_context(0).reserved; }
  template <class T>
  T* user(int node, uint64_t offset = 0) {
    return reinterpret_cast<T*>(cluster_->segment(node) + base() + offset);
  }

  void on(int node, dim3 grid, dim3 block, std::function<void()> kernel) {
    auto ok = cluster_->launch(node, grid, block, std::move(kernel));
    ASSERT_TRUE(ok) << ok.error().text;
  }
  void on_all(dim3 grid, dim3 block, std::function<void()> kernel) {
    for (int n = 0; n < nodes(); ++n) on(n, grid, block, kernel);
  }
  void run() {
    auto r = cluster_->run(4 * enough());
    ASSERT_TRUE(r) << r.error().text;
  }
  void reset() {
    const auto r = cluster_->reset(4 * enough());
    ASSERT_TRUE(r) << r.error().text;
  }

  std::unique_ptr<cluster> cluster_;
};

}  // namespace ggas::test

// Suites of one-sided communication run with the queues of the NIC in each of their places too.
namespace ggas::test {
inline std::vector<target> rma_targets() {
  std::vector<target> all = targets();
#ifdef GGAS_TEST_SIM
  using place = queue_config::place;
  all.push_back({.provider = "sim", .nodes = 2, .reference = true, .label = "model"});
  all.push_back({.provider = "sim", .nodes = 1, .reference = true, .label = "model"});
  all.push_back({.provider = "sim",
                 .nodes = 2,
                 .reference = true,
                 .queues = {.work_queue = place::gpu, .slots_log2 = 4},
                 .label = "workqueue"});
  all.push_back(
      {.provider = "sim",
       .nodes = 2,
       .reference = true,
       .queues = {.notifications = place::host, .status = place::host, .work_queue = place::host, .notify_log2 = 4},
       .label = "inhost"});
#endif
  return all;
}
}  // namespace ggas::test

#define GGAS_RMA_SUITE(suite)                                                             \
  class suite : public ggas::test::api_test {};                                           \
  INSTANTIATE_TEST_SUITE_P(Provider, suite, testing::ValuesIn(ggas::test::rma_targets()), \
                           [](const auto& i) { return i.param.name(); })

#define GGAS_API_SUITE(suite)                                                         \
  class suite : public ggas::test::api_test {};                                       \
  INSTANTIATE_TEST_SUITE_P(Provider, suite, testing::ValuesIn(ggas::test::targets()), \
                           [](const auto& i) { return i.param.name(); })
