// SPDX-License-Identifier: Apache-2.0
// The cluster interface on the shm provider: configuration, launches, time-outs, faults, bad input.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "ggas/cluster.hpp"
#include "ggas/detail/platform/layout.hpp"
#include "ggas/launch.hpp"
#include "tests/support/mangled.hpp"

namespace ggas {
namespace {

constexpr uint64_t second = 1'000'000'000;

cluster_config shm(int nodes = 2) {
  cluster_config c;
  c.provider = "shm";
  c.nodes = nodes;
  c.segment_bytes = 1 << 20;
  return c;
}

// The text of the error a configuration must give.
std::string refused(const cluster_config& cfg) {
  auto c = cluster::create(cfg);
  if (c) return "accepted";
  EXPECT_EQ(c.error().code, errc::bad_argument);
  return c.error().text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Cluster, RefusesBadConfigurations) {
  auto with = [](auto change) {
    cluster_config c = shm();
    change(c);
    return refused(c);
  };
  EXPECT_TRUE(has(with([](auto& c) { c.nodes = 0; }), "nodes = 0: must be 1 ... 65536"));
  EXPECT_TRUE(has(with([](auto& c) { c.nodes = -3; }), "nodes = -3"));
  EXPECT_TRUE(has(with([](auto& c) { c.nodes = 65537; }), "nodes = 65537"));
  EXPECT_TRUE(has(with([](auto& c) { c.segment_bytes = (1 << 20) + 1; }),
                  "segment_bytes = 1048577: must be a multiple of 4096"));
  EXPECT_TRUE(has(with([](auto& c) { c.segment_bytes = 0; }), "2 nodes need at least"));
  EXPECT_TRUE(has(with([](auto& c) { c.segment_bytes = ~size_t{4095}; }), "overflow"));
  EXPECT_TRUE(has(with([](auto& c) { c.provider = "fpga"; }), "provider 'fpga': must be"));
  EXPECT_TRUE(has(with([](auto& c) { c.overrides = {"shm.speed=3"}; }), "'shm.speed=3': the shm provider knows"));
  EXPECT_TRUE(has(with([](auto& c) { c.overrides = {"shm.threads=yes"}; }), "must be key=number"));
  EXPECT_TRUE(has(with([](auto& c) { c.overrides = {"shm.threads"}; }), "must be key=number"));
  EXPECT_TRUE(has(with([](auto& c) { c.overrides = {"shm.threads=2"}; }), "shm.threads=0|1"));
}

TEST(Cluster, MangledOverridesAreTakenOrNamed) {
  std::mt19937 random(20145);
  unsigned taken = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = test::mangled(random() % 2 ? "shm.threads=1" : "shm.resident_blocks=12", random, 2);
    cluster_config c = shm();
    c.overrides = {text};
    const auto made = cluster::create(c);
    taken += made.has_value();
    ASSERT_TRUE(made || made.error().text.starts_with("override '" + text + "': ")) << made.error().text;
  }
  EXPECT_GT(taken, 5u);
}

// More than a process has addresses for is an error that says what was asked for.
TEST(Cluster, MemoryThatIsNotToBeHad) {
  constexpr size_t most = size_t{1} << 46;
  const auto reported = [](const cluster_config& c) {
    const auto made = cluster::create(c);
    return made ? "made" : (made.error().code == errc::out_of_memory ? "" : "another code: ") + made.error().text;
  };
  cluster_config c = shm(3);
  c.host_bytes = most;
  EXPECT_EQ(reported(c), "cannot map host memory of 3 nodes, 70368744177664 bytes each: Cannot allocate memory");
  c.segment_bytes = most;
  EXPECT_EQ(reported(c), "cannot map 3 segments of 70368744177664 bytes: Cannot allocate memory");
}

TEST(Cluster, TheSmallestSegmentWorks) {
  for (int nodes : {1, 2, 8, 64}) {
    cluster_config c = shm(nodes);
    c.segment_bytes = layout::smallest_segment(static_cast<uint64_t>(nodes));
    auto made = cluster::create(c);
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_LE((*made)->device_context(0).reserved + 4096, c.segment_bytes);
    c.segment_bytes -= 4096;
    EXPECT_TRUE(has(refused(c), std::to_string(nodes) + " nodes need at least"));
  }
}

TEST(Cluster, ContextsDescribeOneWindow) {
  auto made = cluster::create(shm(3));
  ASSERT_TRUE(made);
  cluster& c = **made;
  for (int n = 0; n < 3; ++n) {
    const context& x = c.device_context(n);
    EXPECT_EQ(x.node, n);
    EXPECT_EQ(x.nodes, 3);
    EXPECT_EQ(x.window, c.device_context(0).window);
    EXPECT_EQ(x.local, x.window + static_cast<uint64_t>(n) * x.stride);
    EXPECT_EQ(reinterpret_cast<std::byte*>(x.local), c.segment(n));
    EXPECT_EQ(x.segment_bytes, size_t{1} << 20);
    EXPECT_EQ(x.quiet, nullptr);
    for (size_t i = 0; i < x.segment_bytes; i += 4096) ASSERT_EQ(c.segment(n)[i], std::byte{0});
  }
  EXPECT_EQ(c.segment(-1), nullptr);
  EXPECT_EQ(c.segment(3), nullptr);
}

TEST(Cluster, RefusesBadLaunches) {
  auto made = cluster::create(shm());
  ASSERT_TRUE(made);
  auto text = [&](int node, extent grid, extent block, std::function<void()> k) {
    auto r = (*made)->launch(node, grid, block, std::move(k), "mine");
    return r ? std::string("accepted") : r.error().text;
  };
  EXPECT_TRUE(has(text(2, 1, 1, [] {}), "'mine' on node 2: nodes are 0 ... 1"));
  EXPECT_TRUE(has(text(-1, 1, 1, [] {}), "node -1"));
  EXPECT_TRUE(has(text(0, 0, 1, [] {}), "0 blocks"));
  EXPECT_TRUE(has(text(0, 1, 2000, [] {}), "2000 threads in a block"));
  EXPECT_TRUE(has(text(0, 1, 1, nullptr), "no kernel"));
  EXPECT_TRUE((*made)->run(second));
}

__global__ void add(uint32_t* to, uint32_t a, uint32_t b) { ggas_store(to, a + b); }

TEST(Cluster, LaunchHelperPassesArguments) {
  auto made = cluster::create(shm());
  ASSERT_TRUE(made);
  cluster& c = **made;
  auto* cell = reinterpret_cast<uint32_t*>(c.segment(1) + c.device_context(1).reserved);
  ASSERT_TRUE(launch(c, 1, 1, 1, add, cell, 40u, 2u));
  auto stats = c.run(second);
  ASSERT_TRUE(stats);
  EXPECT_EQ(*cell, 42u);
  EXPECT_GT(stats->sim_ns, 0u);
}

TEST(Cluster, TimeOutNamesTheKernelAndTheClusterStaysUsable) {
  auto made = cluster::create(shm());
  ASSERT_TRUE(made);
  cluster& c = **made;
  auto spin = [&] {
    const auto* flag = ggas_pointer_of_node<uint32_t>(ggas_node(), ggas_reserved_bytes());
    (void)ggas_wait_until(flag, ggas_eq, 1u, GGAS_FOREVER);
  };
  ASSERT_TRUE(c.launch(1, 1, 32, spin, "waits for nobody"));
  ASSERT_TRUE(c.launch(1, 1, 32, spin, "never begins"));
  auto r = c.run(second / 50);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, errc::timed_out);
  EXPECT_TRUE(has(r.error().text, "kernel 'waits for nobody' on GPU 1")) << r.error().text;
  EXPECT_TRUE(has(r.error().text, "poll 4 B")) << r.error().text;
  auto again = c.run(second);
  ASSERT_TRUE(again);  // both are gone
  bool ran = false;
  ASSERT_TRUE(c.launch(1, 1, 1, [&] { ran = true; }));
  ASSERT_TRUE(c.run(second));
  EXPECT_TRUE(ran);
}

TEST(Cluster, AKernelThatThrowsIsADeviceFault) {
  auto made = cluster::create(shm());
  ASSERT_TRUE(made);
  ASSERT_TRUE((*made)->launch(
      0, 1, 1, [] { throw std::runtime_error("oops"); }, "thrower"));
  auto r = (*made)->run(second);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, errc::device_fault);
  EXPECT_TRUE(has(r.error().text, "thrower")) << r.error().text;
  EXPECT_TRUE(has(r.error().text, "oops")) << r.error().text;
}

TEST(Cluster, ReportsProgress) {
  for (const char* threads : {"shm.threads=0", "shm.threads=1"}) {
    cluster_config cfg = shm();
    int calls = 0;
    cfg.on_progress = [&](uint64_t now) {
      EXPECT_GT(now, 0u);
      ++calls;
    };
    cfg.overrides = {threads};
    auto made = cluster::create(cfg);
    ASSERT_TRUE(made);
    ASSERT_TRUE((*made)->launch(0, 1, 1, [] { __nanosleep(900'000'000); }));
    ASSERT_TRUE((*made)->run(60 * second));
    EXPECT_GE(calls, 1);
  }
}

// The one that waits, kernels or a host program; what was queued is gone.
TEST(Cluster, ARunIsCancelled) {
  for (const char* threads : {"shm.threads=0", "shm.threads=1"}) {
    for (const bool by_host : {false, true}) {
      cluster_config cfg = shm();
      std::atomic<bool> begun = false;
      cfg.cancelled = [&] { return begun.load(); };
      cfg.overrides = {threads};
      auto made = cluster::create(cfg);
      ASSERT_TRUE(made);
      cluster& c = **made;
      if (by_host) {
        ASSERT_TRUE(c.launch_host(0, [&](host& h) {
          begun = true;
          h.sleep(3600 * second);
        }));
      } else {
        ASSERT_TRUE(c.launch(1, 1, 1, [&] {
          begun = true;
          __nanosleep(1'000'000'000);
          __nanosleep(4'000'000'000);
        }));
      }
      const auto r = c.run(3600 * second);
      ASSERT_FALSE(r);
      EXPECT_EQ(r.error().code, errc::cancelled) << r.error().text;
      begun = false;
      bool ran = false;
      ASSERT_TRUE(c.launch(0, 1, 1, [&] { ran = true; }));
      ASSERT_TRUE(c.run(second));
      EXPECT_TRUE(ran);
    }
  }
}

// Reserved area: what the kernels find and what the host reserved must agree for every size.
TEST(Layout, PartsNeitherOverlapNorLeaveTheReservedArea) {
  for (uint64_t nodes : {1, 2, 3, 7, 8, 9, 64, 1000}) {
    for (uint64_t segment = layout::smallest_segment(nodes); segment < (uint64_t{1} << 32);
         segment = segment * 3 / 4096 * 4096) {
      const uint64_t reserved = layout::reserved_bytes(nodes, segment);
      ASSERT_LT(reserved, segment);
      ASSERT_EQ(reserved % 4096, 0u);
      const layout l = layout::of(nodes, reserved);
      ASSERT_GE(l.slot_bytes, layout::slot_unit);
      ASSERT_EQ(l.slot_bytes % layout::slot_unit, 0u);
      std::vector<std::pair<uint64_t, uint64_t>> parts = {
          {layout::aborted, 8},     {layout::grid_release, 8}, {layout::gather_all_seq, 8},    {layout::broken, 8},
          {layout::queues_used, 8}, {layout::result_flag, 8},  {l.result_slot(), l.slot_bytes}};
      for (uint64_t team = 0; team < layout::teams; ++team) {
        parts.push_back({layout::barrier_epoch(team), 8});
        parts.push_back({layout::barrier_broken(team), 8});
        parts.push_back({layout::check_out(team), 8});
        for (uint64_t n = 0; n < nodes; ++n) parts.push_back({l.check_in(team, n), 8});
        for (uint64_t c = 0; c < layout::most_channels; ++c) parts.push_back({l.channel_seq(team, c), 8});
        for (uint64_t c = 0; c < l.channels; ++c) {
          for (uint64_t turn = 0; turn < layout::channel_depth; ++turn)
            parts.push_back({l.channel_slot(team, c, turn, 0), nodes * l.channel_bytes});
        }
      }
      ASSERT_GT(l.channels, 0u);
      for (uint64_t n = 0; n < nodes; ++n) {
        for (uint64_t at :
             {l.gather_all_flag(n), l.gather_flag(n), l.gather_ack(n), l.gather_seq(n), l.gather_done(n)}) {
          parts.push_back({at, 8});
        }
        for (uint64_t seq : {0, 1}) {
          parts.push_back({l.gather_slot(n, seq), l.slot_bytes});
          parts.push_back({l.gather_all_slot(n, seq), l.slot_bytes});
        }
      }
      for (uint64_t b = 0; b < layout::max_blocks; ++b) parts.push_back({l.arrived(b), 8});
      std::sort(parts.begin(), parts.end());
      for (size_t i = 1; i < parts.size(); ++i) ASSERT_LE(parts[i - 1].first + parts[i - 1].second, parts[i].first);
      ASSERT_LE(parts.back().first + parts.back().second, reserved);
    }
  }
}

}  // namespace
}  // namespace ggas
