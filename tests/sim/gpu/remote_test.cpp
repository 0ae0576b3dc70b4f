// SPDX-License-Identifier: Apache-2.0
// Window accesses of the GPU model: TLPs, outstanding reads, back-pressure, fences.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/gpu/rig.hpp"

namespace ggas::test {
namespace {

using simt::scope;

TEST(gpu_remote, stores_arrive_and_loads_return) {
  rig r;
  uint64_t sum = 0;
  r.local(1, 4096)[5] = 77;
  r.launch(0, 2, 64, [&] {
    simt::store(r.remote(1, 8 * thread()), thread() + 1);
    if (thread() == 5) sum += simt::load(r.remote(1, 4096 + 40));
  });
  ASSERT_TRUE(r.run());
  r.settle();
  for (uint64_t i = 0; i < 128; ++i) EXPECT_EQ(r.local(1)[i], i + 1);
  EXPECT_EQ(sum, 77u);
}

TEST(gpu_remote, every_size_and_alignment) {
  rig r;
  int wrong = 0;
  struct wide {
    uint64_t a, b;
    bool operator==(const wide&) const = default;
  };
  r.launch(0, 1, 1, [&] {
    const auto there_and_back = [&]<class T>(T v, size_t offset) {
      simt::store(r.remote<T>(1, offset), v);
      wrong += simt::load(r.remote<T>(1, offset)) != v;
    };
    for (size_t o = 0; o < 9; ++o) there_and_back(uint8_t(0x80 + o), 100 + o);
    for (size_t o = 0; o < 10; o += 2) there_and_back(uint16_t(0x8001 + o), 202 + o);
    for (size_t o = 0; o < 16; o += 4) there_and_back(uint32_t(0x80000001 + o), 300 + o);
    there_and_back(uint64_t(0x8000000000000001), 408);
    there_and_back(wide{1, ~0ull}, 512 + 56);  // over a segment border
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(r[0].take_fault().count, 0u);
}

TEST(gpu_remote, a_load_sees_the_thread_s_earlier_stores) {
  rig r;
  int wrong = 0;
  r.launch(0, 1, 64, [&] {
    for (uint64_t i = 1; i < 20; ++i) {
      simt::store(r.remote(1, 8 * thread()), i);
      wrong += simt::load(r.remote(1, 8 * thread())) != i;
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

// Zero-copy: pinned host memory is after PCIe, with its own counters.
TEST(gpu_remote, host_memory_is_read_and_written_over_pcie) {
  rig r;
  r.host_memory(0).store<uint64_t>(rig::pinned_bus + 64, 1234);
  uint64_t got = 0, back = 0, took = 0;
  r.launch(0, 1, 1, [&] {
    const uint64_t t = simt::now_ns();
    got = simt::load(rig::host(64));
    took = simt::now_ns() - t;
    simt::store(rig::host(128), 77);
    back = simt::load(rig::host(128));
    simt::store(r.remote(1), 5);
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, 1234u);
  EXPECT_EQ(back, 77u);
  EXPECT_EQ(r.host_memory(0).load<uint64_t>(rig::pinned_bus + 128), 77u);
  EXPECT_GT(took, uint64_t(r.cfg.gpu.egress_ns + r.cfg.gpu.ingress_ns + 300));
  const auto n = r[0].counters();
  EXPECT_EQ(n.at("gpu.pcie_reads"), 2u);
  EXPECT_EQ(n.at("gpu.host_reads"), 2u);
  EXPECT_EQ(n.at("gpu.pcie_writes"), 2u);
  EXPECT_EQ(n.at("gpu.host_writes"), 1u);
}

// A descriptor of 32 bytes by four lanes, to a page and to a work queue in host memory.
TEST(gpu_remote, a_descriptor_leaves_as_one_tlp) {
  rig r;
  r.launch(0, 1, 4, [&] {
    simt::store(reinterpret_cast<uint64_t*>(rig::page + 0x200) + thread(), thread());
    simt::store(rig::host(32) + thread(), thread());
  });
  ASSERT_TRUE(r.run());
  r.settle();
  ASSERT_EQ(r.nic(0).seen.size(), 1u);
  EXPECT_EQ(r.nic(0).seen[0].addr, page_bus + 0x200);
  EXPECT_EQ(r.nic(0).seen[0].len_dw, 8u);
  EXPECT_EQ(r[0].counters().at("gpu.pcie_writes"), 2u);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(r.host_memory(0).load<uint64_t>(rig::pinned_bus + 32 + 8 * i), i);
}

TEST(gpu_remote, an_endpoint_may_export_several_memories) {
  rig r;
  std::vector<uint64_t> more(512);
  r[1].host.export_memory(bar1_bus + (4 << 20), std::as_writable_bytes(std::span(more)));
  r[1].addresses.own(more.data(), 4096);
  pcie::tlp t = pcie::memory_write(bar1_bus + (4 << 20) + 80, std::as_bytes(std::span("abcdefg")), nic_id);
  uint64_t seen = 0;
  r.launch(1, 1, 1, [&] {
    r[1].host.link.on_receive(t);
    while (!(seen = simt::load(&more[10], true))) {
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(std::memcmp(&seen, "abcdefg", 8), 0);
  EXPECT_EQ(r[1].counters().at("gpu.bar_unmapped"), 0u);
}

TEST(gpu_remote, outstanding_reads_are_limited) {
  for (const unsigned limit : {1u, 25u, 64u}) {
    rig_config c;
    c.gpu.outstanding_reads = limit;
    rig r(c);
    r.launch(0, 8, 64, [&] { simt::load(r.remote(1, 64 * thread())); });
    ASSERT_TRUE(r.run());
    EXPECT_EQ(r[0].counters().at("gpu.pcie_reads_outstanding_max"), limit);
    EXPECT_EQ(r[0].counters().at("gpu.pcie_reads"), 512u);
  }
}

// Little's law: with n reads of 64 bytes outstanding and a round trip of T on the bus, n * 64 / T.
TEST(gpu_remote, outstanding_reads_bound_the_bandwidth) {
  const auto ns = [](unsigned limit) {
    rig_config c;
    c.gpu.outstanding_reads = limit;
    rig r(c);
    r.launch(0, 16, 64, [&] {
      for (int i = 0; i < 4; ++i) simt::load(r.remote(1, 64 * thread()));
    });
    const uint64_t before = r.now_ns();
    EXPECT_TRUE(r.run());
    return double(r.now_ns() - before);
  };
  EXPECT_NEAR(ns(8) / ns(16), 2.0, 0.1);
}

TEST(gpu_remote, full_store_queue_holds_up_warps) {
  rig_config c;
  c.gpu.store_queue = 8;
  c.lanes = 1;
  rig r(c);
  r.launch(0, 16, 64, [&] {
    for (uint64_t i = 0; i < 8; ++i) simt::store(r.remote(1, 8 * (thread() + 1024 * i)), i);
  });
  const uint64_t before = r.now_ns();
  ASSERT_TRUE(r.run());
  EXPECT_GT(r[0].counters().at("gpu.store_stalls"), 0u);
  EXPECT_GE(r.now_ns() - before, 16u * 64 * 8 * 8 * 2);  // 64 KB at 0.5 GB/s
  r.settle(500);
  for (uint64_t i = 0; i < 8192; ++i) ASSERT_EQ(r.local(1)[i], i / 1024);
}

// ---- fences

TEST(gpu_fence, gpu_scope_is_a_round_trip_to_l2) {
  rig r;
  uint64_t without = 0, with = 0;
  r.launch(0, 1, 1, [&] {
    uint64_t t = simt::now_ns();
    simt::fence(scope::gpu);
    without = simt::now_ns() - t;
    simt::store(r.local(0), uint64_t(1));
    t = simt::now_ns();
    simt::fence(scope::gpu);
    with = simt::now_ns() - t;
  });
  ASSERT_TRUE(r.run());
  const double l2 = r.cfg.gpu.op_cycles + r.cfg.gpu.l2_latency_ns;  // 1 ns a cycle
  EXPECT_NEAR(double(without), l2, 5);
  EXPECT_NEAR(double(with), l2, 5);
}

TEST(gpu_fence, gpu_scope_waits_for_remote_stores_to_reach_the_port) {
  rig r;
  uint64_t with = 0;
  r.launch(0, 1, 1, [&] {
    simt::store(r.remote(1), uint64_t(1));
    const uint64_t t = simt::now_ns();
    simt::fence(scope::gpu);
    with = simt::now_ns() - t;
  });
  ASSERT_TRUE(r.run());
  EXPECT_NEAR(double(with), r.cfg.gpu.egress_ns, 50);
  EXPECT_EQ(r[0].counters().at("gpu.pcie_flushes"), 0u);
}

// Out to the root complex, memory, and back: made of the paths' own parameters.
TEST(gpu_fence, system_scope_reads_host_memory_behind_the_stores) {
  rig r;
  uint64_t took = 0;
  r.launch(0, 1, 1, [&] {
    const uint64_t t = simt::now_ns();
    simt::fence(scope::sys);
    took = simt::now_ns() - t;
  });
  ASSERT_TRUE(r.run());
  const double path = r.cfg.gpu.egress_ns + r.cfg.gpu.ingress_ns + 2 * 50 + 300;
  EXPECT_NEAR(double(took), path + r.cfg.gpu.op_cycles + r.cfg.gpu.l2_latency_ns, 20);
  EXPECT_EQ(r[0].counters().at("gpu.pcie_flushes"), 1u);
}

TEST(gpu_fence, system_scope_with_a_time_of_its_own) {
  rig_config c;
  c.gpu.system_fence_ns = 400;
  rig r(c);
  uint64_t took = 0;
  r.launch(0, 1, 1, [&] {
    simt::store(r.remote(1), uint64_t(1));
    const uint64_t t = simt::now_ns();
    simt::fence(scope::sys);
    took = simt::now_ns() - t;
  });
  ASSERT_TRUE(r.run());
  EXPECT_NEAR(double(took), std::max(r.cfg.gpu.egress_ns, r.cfg.gpu.op_cycles + r.cfg.gpu.l2_latency_ns) + 400.0, 50);
  EXPECT_EQ(r[0].counters().at("gpu.pcie_flushes"), 0u);
}

TEST(gpu_fence, system_fences_share_a_flush) {
  rig r;
  r.launch(0, 8, 256, [&] { simt::fence(scope::sys); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(r[0].counters().at("gpu.system_fences"), 64u);
  EXPECT_LE(r[0].counters().at("gpu.pcie_flushes"), 3u);
}

// Message passing through the window: data, fence, flag; the other GPU must see the data with the flag.
TEST(gpu_fence, flag_behind_data) {
  rig r;
  int wrong = 0;
  r.launch(0, 1, 32, [&] {
    for (uint64_t round = 1; round <= 20; ++round) {
      simt::store(r.remote(1, 1024 + 64 * simt::thread_linear()), round);
      simt::fence(scope::sys);
      simt::sync_warp(~0u);
      if (simt::thread_linear() == 0) simt::store(r.remote(1), round);
      while (simt::load(r.local(0), true) < round) {
      }
    }
  });
  r.launch(1, 1, 32, [&] {
    for (uint64_t round = 1; round <= 20; ++round) {
      while (simt::load(r.local(1), true) < round) {
      }
      wrong += simt::load(r.local(1, 1024 + 64 * simt::thread_linear())) < round;
      simt::sync_warp(~0u);
      if (simt::thread_linear() == 0) simt::store(r.remote(0), round);
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ggas::test
