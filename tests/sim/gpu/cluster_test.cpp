// SPDX-License-Identifier: Apache-2.0
// Provider sim: the cluster interface over the RTL of the NIC and the GPU model.
#include "ggas/cluster.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "gpu_api/simt/device.hpp"

namespace ggas {
namespace {

cluster_config small() {
  cluster_config c;
  c.segment_bytes = 1 << 20;
  return c;
}

std::unique_ptr<cluster> make(const cluster_config& cfg) {
  auto c = cluster::create(cfg);
  EXPECT_TRUE(c) << c.error().text;
  return c ? std::move(*c) : nullptr;
}

std::string refusal(const cluster_config& cfg, errc code) {
  auto c = cluster::create(cfg);
  if (c) return "created";
  EXPECT_EQ(int(c.error().code), int(code)) << c.error().text;
  return c.error().text;
}

// Offset of data in a segment, after what the library keeps.
uint64_t data(const cluster& c) { return c.device_context(0).reserved; }

const context& node() { return *static_cast<const context*>(simt::device_context()); }
uint64_t* of(int n, uint64_t offset) {
  return reinterpret_cast<uint64_t*>(node().window + uint64_t(n) * node().stride + offset);
}
uint64_t* own(uint64_t offset) { return reinterpret_cast<uint64_t*>(node().local + offset); }

constexpr uint64_t second = 1'000'000'000;

TEST(sim_cluster, stores_cross_and_come_back) {
  auto c = make(small());
  ASSERT_TRUE(c);
  const uint64_t at = data(*c);
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(c->launch(n, {2}, {32}, [=] {
      const uint64_t i = simt::block_index().x * 32 + simt::thread_linear();
      simt::store(of(1 - node().node, at + 8 * i), 1000 * uint64_t(node().node) + i + 1);
      while (simt::load(own(at + 8 * i), true) == 0) {
      }
    }));
  }
  const auto s = c->run(second);
  ASSERT_TRUE(s) << s.error().text;
  EXPECT_GT(s->nic_cycles, 0u);
  for (int n = 0; n < 2; ++n)
    for (uint64_t i = 0; i < 64; ++i)
      EXPECT_EQ(reinterpret_cast<uint64_t*>(c->segment(n) + at)[i], 1000u * unsigned(1 - n) + i + 1);
  EXPECT_EQ(c->counters(0).at("SMFU_STORES_IN"), 8u);  // 512 bytes in runs of 64
  EXPECT_EQ(c->counters(0).at("gpu.pcie_writes"), 8u);
  EXPECT_TRUE(c->events(0).empty());
}

TEST(sim_cluster, load_and_quiet_over_the_rtl) {
  auto c = make(small());
  ASSERT_TRUE(c);
  const uint64_t at = data(*c);
  reinterpret_cast<uint64_t*>(c->segment(1) + at)[3] = 42;
  uint64_t got = 0, quiet = 1;
  ASSERT_TRUE(c->launch(0, {1}, {1}, [&, at] {
    got = simt::load(of(1, at + 24));
    simt::store(of(1, at), uint64_t(5));
    quiet = simt::load(node().quiet);
  }));
  ASSERT_TRUE(c->run(second));
  EXPECT_EQ(got, 42u);
  EXPECT_EQ(quiet, 0u);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(c->segment(1) + at)[0], 5u);
}

TEST(sim_cluster, one_node_reaches_itself_through_the_window) {
  cluster_config cfg = small();
  cfg.nodes = 1;
  auto c = make(cfg);
  ASSERT_TRUE(c);
  const uint64_t at = data(*c);
  uint64_t got = 0;
  ASSERT_TRUE(c->launch(0, {1}, {1}, [&, at] {
    simt::store(of(0, at), uint64_t(7));
    got = simt::load(of(0, at));
  }));
  ASSERT_TRUE(c->run(second));
  EXPECT_EQ(got, 7u);
}

TEST(sim_cluster, bad_input_is_named) {
  cluster_config c = small();
  c.nodes = 65;
  EXPECT_NE(refusal(c, errc::bad_argument).find("nodes = 65"), std::string::npos);
  c = small();
  c.nic = "foo";
  EXPECT_NE(refusal(c, errc::bad_argument).find("'foo'"), std::string::npos);
  c = small();
  c.platform = "no-such-platform";
  EXPECT_NE(refusal(c, errc::bad_platform).find("no-such-platform"), std::string::npos);
  c = small();
  c.overrides = {"gpu.no_such_key=1"};
  EXPECT_NE(refusal(c, errc::bad_platform).find("no_such_key"), std::string::npos);
  c = small();
  c.segment_bytes = 1000;
  EXPECT_NE(refusal(c, errc::bad_argument).find("1000"), std::string::npos);
  c = small();
  c.faults = "/no/such/script";
  EXPECT_NE(refusal(c, errc::no_file).find("/no/such/script"), std::string::npos);
  c = small();
  c.segment_bytes = size_t(1) << 40;
  EXPECT_NE(refusal(c, errc::bad_argument).find("Tesla K20"), std::string::npos);
}

TEST(sim_cluster, bad_launches_are_refused) {
  auto c = make(small());
  ASSERT_TRUE(c);
  EXPECT_FALSE(c->launch(2, {1}, {1}, [] {}));
  EXPECT_FALSE(c->launch(-1, {1}, {1}, [] {}));
  EXPECT_FALSE(c->launch(0, {1}, {2000}, [] {}));
  EXPECT_FALSE(c->launch(0, {0}, {1}, [] {}));
  EXPECT_TRUE(c->run(second)) << "nothing is queued";
}

TEST(sim_cluster, time_out_says_what_waits_and_the_cluster_lives_on) {
  auto c = make(small());
  ASSERT_TRUE(c);
  const uint64_t at = data(*c);
  ASSERT_TRUE(c->launch(0, {300}, {32}, [=] {
    if (simt::block_index().x == 299) simt::store(own(at), uint64_t(1));
    while (simt::load(own(at), true) == 0) simt::sleep(1000);
  }));
  const auto r = c->run(200'000);
  ASSERT_FALSE(r);
  EXPECT_EQ(int(r.error().code), int(errc::timed_out));
  EXPECT_NE(r.error().text.find("have no room"), std::string::npos) << r.error().text;
  ASSERT_TRUE(c->launch(0, {1}, {1}, [=] { simt::store(own(at), uint64_t(2)); }));
  ASSERT_TRUE(c->run(second));
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(c->segment(0) + at), 2u);
}

TEST(sim_cluster, load_from_nowhere_is_a_device_fault_and_an_event) {
  uint64_t got = 0;
  cluster_config cfg = small();
  cfg.segment_bytes = 3 << 18;  // stride is the next power of two: a hole after each segment
  auto holes = make(cfg);
  ASSERT_TRUE(holes);
  ASSERT_TRUE(holes->launch(0, {1}, {1}, [&] { got = simt::load(of(1, 3 << 18)); }));
  const auto hole = holes->run(second);
  ASSERT_FALSE(hole);
  EXPECT_EQ(int(hole.error().code), int(errc::device_fault)) << hole.error().text;
  EXPECT_EQ(got, ~0ull);
  const auto counters = holes->counters(0);
  EXPECT_EQ(counters.at("EVENT_LOAD_UNMAPPED") + counters.at("EVENT_LOAD_REMOTE_ERROR"), 1u);
}

TEST(sim_cluster, addresses_beside_window_and_segment_are_faults) {
  auto c = make(small());
  ASSERT_TRUE(c);
  uint64_t got = 0;
  ASSERT_TRUE(c->launch(0, {1}, {1}, [&] {
    got = simt::load(of(0, 0) - 1) & simt::load(of(2, 0)) & simt::load(own(0) - 1) & simt::load(own(2 << 20));
    simt::store(own(0) - 1, uint64_t(1));
  }));
  const auto r = c->run(second);
  ASSERT_FALSE(r);
  EXPECT_EQ(got, ~0ull);
  EXPECT_NE(r.error().text.find("5 failed accesses"), std::string::npos) << r.error().text;
}

TEST(sim_cluster, exception_in_a_kernel) {
  auto c = make(small());
  ASSERT_TRUE(c);
  ASSERT_TRUE(c->launch(
      1, {1}, {1}, [] { throw std::runtime_error("boom"); }, "fuse"));
  const auto r = c->run(second);
  ASSERT_FALSE(r);
  EXPECT_EQ(int(r.error().code), int(errc::device_fault));
  EXPECT_NE(r.error().text.find("fuse"), std::string::npos) << r.error().text;
  EXPECT_NE(r.error().text.find("boom"), std::string::npos) << r.error().text;
}

struct run_result {
  uint64_t ns, cycles;
  std::map<std::string, uint64_t> counters;
  bool operator==(const run_result&) const = default;
};

run_result pingpong(uint64_t seed) {
  cluster_config cfg = small();
  cfg.seed = seed;
  auto c = make(cfg);
  const uint64_t at = data(*c);
  for (int n = 0; n < 2; ++n) {
    EXPECT_TRUE(c->launch(n, {2}, {64}, [=] {
      const uint64_t i = simt::block_index().x * 64 + simt::thread_linear();
      for (uint64_t round = 1; round <= 5; ++round) {
        simt::store(of(1 - node().node, at + 8 * i), round);
        while (simt::load(own(at + 8 * i), true) < round) {
        }
      }
    }));
  }
  const auto s = c->run(second);
  EXPECT_TRUE(s);
  return s ? run_result{s->sim_ns, s->nic_cycles, c->counters(0)} : run_result{};
}

// Clusters one after another in one process do not touch each other.
TEST(sim_cluster, same_seed_same_run_another_seed_another_start) {
  const run_result a = pingpong(1), b = pingpong(2), c = pingpong(1);
  EXPECT_EQ(a, c);
  EXPECT_NE(a.ns, b.ns);
  EXPECT_EQ(a.counters.at("SMFU_STORES_IN"), b.counters.at("SMFU_STORES_IN"));
}

TEST(sim_cluster, two_clusters_side_by_side) {
  auto a = make(small()), b = make(small());
  ASSERT_TRUE(a && b);
  uint64_t ra = 0, rb = 0;
  ASSERT_TRUE(a->launch(0, {1}, {1}, [&] { ra = simt::load(of(1, 0)) + 1; }));
  ASSERT_TRUE(b->launch(0, {1}, {1}, [&] { rb = simt::load(of(1, 0)) + 1; }));
  ASSERT_TRUE(a->run(second));
  ASSERT_TRUE(b->run(second));
  EXPECT_EQ(ra, 1u);
  EXPECT_EQ(rb, 1u);
}

// C7, by each way of synchronising; a step pays for it every time.
TEST(sim_cluster, a_step_costs_launch_and_synchronisation) {
  cluster_config cfg = small();
  cfg.overrides = {"gpu.launch_skew_ns=0"};
  auto c = make(cfg);
  ASSERT_TRUE(c);
  const std::pair<host_sync, double> ways[] = {{host_sync::stream, 12250},
                                               {host_sync::device, 15240},
                                               {host_sync::event, 11980},
                                               {host_sync::event_blocking, 65710}};
  for (const auto& [how, published_ns] : ways) {
    const uint64_t begin = c->now_ns();
    for (int step = 1; step <= 3; ++step) {
      ASSERT_TRUE(c->launch(0, {1}, {1}, [] {}));
      const auto s = c->run(second, how);
      ASSERT_TRUE(s);
      EXPECT_NEAR(double(s->sim_ns), published_ns, 10);
    }
    EXPECT_NEAR(double(c->now_ns() - begin), 3 * published_ns, 30);
  }
}

// On the H200: 100 kernels in a row took 4.36 us each (docs/calibration.md).
TEST(sim_cluster, kernels_in_a_row_take_what_was_measured) {
  cluster_config cfg = small();
  cfg.platform = "modern";
  auto c = make(cfg);
  ASSERT_TRUE(c);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(c->launch(0, {1}, {1}, [] {}));
  const auto s = c->run(second);
  ASSERT_TRUE(s);
  EXPECT_NEAR(double(s->sim_ns) / 100, 4360, 0.05 * 4360);
}

}  // namespace
}  // namespace ggas
