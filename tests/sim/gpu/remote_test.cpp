// SPDX-License-Identifier: Apache-2.0
// Window accesses of the GPU model: TLPs, outstanding reads, back-pressure, fences, the BAR1 aperture, errors.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/gpu/rig.hpp"

namespace ggas::test {
namespace {

using simt::scope;

uint64_t thread() { return uint64_t(simt::block_index().x) * simt::block_threads() + simt::thread_linear(); }

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

// Zero-copy: pinned host memory is behind PCIe, with its own counters.
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

// ---- aperture

TEST(gpu_bar, write_is_visible_after_its_latency) {
  rig r;
  uint64_t sent = 0, seen = 0;
  r.launch(0, 1, 1, [&] {
    simt::sleep(3000);
    sent = simt::now_ns();
    simt::store(r.remote(1), uint64_t(1));
  });
  r.launch(1, 1, 1, [&] {
    while (simt::load(r.local(1), true) == 0) {
    }
    seen = simt::now_ns();
  });
  ASSERT_TRUE(r.run());
  const auto& g = r.cfg.gpu;
  // GPU, root, NIC, root, GPU, aperture; then up to one turn of the polling loop.
  const double path = g.egress_ns + 4 * 50 + 2 * 100 + 500 + g.bar_ns;
  const double turn = g.l2_latency_ns + g.op_cycles * g.cycle_ps() / 1000;
  EXPECT_GE(double(seen - sent), path);
  EXPECT_LE(double(seen - sent), path + turn + 200);
}

TEST(gpu_bar, completions_are_cut_at_128_bytes) {
  rig r;
  unsigned parts = 0;
  std::vector<unsigned> bytes;
  r[1].host.link.on_wire = [&](const pcie::tlp& t, uint64_t, uint64_t) {
    if (!t.completion()) return;
    ++parts;
    bytes.push_back(4u * t.len_dw);
  };
  for (uint64_t i = 0; i < 64; ++i) r.local(1)[i] = i;
  // A read of 256 bytes from offset 64, as a NIC makes it.
  pcie::tlp read = pcie::memory_read(window_bus + r.cfg.segment_bytes + 64, 256, gpu_id, 0);
  r[0].host.link.send(std::move(read));
  r.settle();
  EXPECT_EQ(bytes, (std::vector<unsigned>{64, 128, 64}));
}

TEST(gpu_bar, read_sees_writes_before_it) {
  rig_config c;
  c.gpu.bar_ns = 900;
  rig r(c);
  int wrong = 0;
  r.launch(0, 1, 1, [&] {
    for (uint64_t i = 1; i < 10; ++i) {
      simt::store(r.remote(1), i);
      wrong += simt::load(r.remote(1)) != i;
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

TEST(gpu_bar, partial_write_leaves_its_neighbours) {
  rig r;
  r.local(1)[0] = ~0ull;
  r.launch(0, 1, 1, [&] { simt::store(r.remote<uint16_t>(1, 3), uint16_t(0)); });
  ASSERT_TRUE(r.run());
  r.settle();
  EXPECT_EQ(r.local(1)[0], 0xffffff0000ffffff);
}

TEST(gpu_bar, outside_the_segment_is_refused) {
  rig_config c;
  c.exported_bytes = 4096;
  rig r(c);
  uint64_t got = 0;
  r.launch(0, 1, 1, [&] {
    simt::store(r.remote(1, 4096), uint64_t(1));
    got = simt::load(r.remote(1, 4096));
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, ~0ull);
  EXPECT_EQ(r.local(1, 4096)[0], 0u);
  EXPECT_EQ(r[1].counters().at("gpu.bar_unmapped"), 2u);
}

// ---- errors

TEST(gpu_error, failed_load_reads_all_ones_and_is_reported) {
  rig r;
  std::vector<uint64_t> got(32);
  r.launch(0, 1, 32, [&] {  // a node that does not exist: the NIC answers UR
    got[simt::thread_linear()] = simt::load(r.remote(2, 8 * simt::thread_linear()));
  });
  ASSERT_TRUE(r.run());
  EXPECT_TRUE(std::ranges::all_of(got, [](uint64_t v) { return v == ~0ull; }));
  const auto f = r[0].take_fault();
  EXPECT_EQ(f.count, 4u);
  EXPECT_NE(f.first.find("UR"), std::string::npos) << f.first;
}

TEST(gpu_error, unanswered_load_ends_by_time_out) {
  rig_config c;
  c.gpu.read_timeout_us = 50;
  rig r(c);
  r.nic(0).silent = true;
  uint64_t got = 0;
  r.launch(0, 1, 1, [&] { got = simt::load(r.remote(1)); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, ~0ull);
  EXPECT_NE(r[0].take_fault().first.find("time-out"), std::string::npos);
}

TEST(gpu_error, outside_the_window) {
  rig r;
  uint64_t got = 0;
  r.launch(0, 1, 1, [&] {
    got = simt::load(r.remote(2, r.cfg.segment_bytes - 4));  // half of it behind the window's end
    simt::store(static_cast<uint64_t*>(nullptr), uint64_t(1));
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, ~0ull);
  EXPECT_EQ(r[0].take_fault().count, 2u);
  EXPECT_TRUE(r.nic(0).seen.empty());
}

TEST(gpu_error, remote_atomic_is_refused) {
  rig r;
  uint64_t got = 0;
  r.launch(0, 1, 1, [&] { got = simt::atomic<uint64_t>(r.remote(1), simt::rmw::add, 1, 0, scope::sys); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, ~0ull);
  EXPECT_NE(r[0].take_fault().first.find("loads and stores only"), std::string::npos);
}

// Answers to a kernel that is no more find nobody, and the next kernel runs.
TEST(gpu_error, reset_with_reads_under_way) {
  rig r;
  r.launch(0, 8, 64, [&] {
    for (;;) {
      simt::store(r.remote(1, 8 * thread()), uint64_t(1));
      simt::load(r.remote(1, 64 * thread()));
      simt::fence(scope::sys);
    }
  });
  EXPECT_FALSE(r.run(20));
  r[0].reset();
  uint64_t got = 0;
  r.local(1, 65536)[0] = 9;
  r.launch(0, 1, 1, [&] { got = simt::load(r.remote(1, 65536)); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, 9u);
}

}  // namespace
}  // namespace ggas::test
