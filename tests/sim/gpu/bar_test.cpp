// SPDX-License-Identifier: Apache-2.0
// The GPU model as others see it, its BAR1 aperture, and accesses that fail.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/gpu/rig.hpp"

namespace ggas::test {
namespace {

using simt::scope;

// Whether the aperture is slower than L2 or faster.
class gpu_bar_latency : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(ns, gpu_bar_latency, testing::Values(0u, 200u, 900u));

TEST_P(gpu_bar_latency, write_is_visible_after_it) {
  rig_config c;
  c.gpu.bar_ns = GetParam();
  rig r(c);
  constexpr uint64_t times = 16;  // at as many places of a poll's turn
  std::vector<uint64_t> sent(times), seen(times);
  r.launch(0, 1, 1, [&] {
    for (uint64_t i = 0; i < times; ++i) {
      simt::sleep(3000 + 23 * i);
      sent[i] = simt::now_ns();
      simt::store(r.remote(1), i + 1);
    }
  });
  r.launch(1, 1, 1, [&] {
    for (uint64_t i = 0; i < times; ++i) {
      while (simt::load(r.local(1), true) <= i) {
      }
      seen[i] = simt::now_ns();
    }
  });
  ASSERT_TRUE(r.run());
  const auto& g = r.cfg.gpu;
  // GPU, root, NIC, root, GPU, aperture; then up to one turn of the polling loop, at random none.
  const double path = g.egress_ns + 4 * 50 + 2 * 100 + 500 + g.bar_ns;
  const double turn = g.l2_latency_ns + g.op_cycles * g.cycle_ps() / 1000;
  double least = 1e9;
  for (uint64_t i = 0; i < times; ++i) {
    const double took = double(seen[i] - sent[i]);
    EXPECT_GE(took, path);
    EXPECT_LE(took, path + turn + 200);
    least = std::min(least, took);
  }
  EXPECT_LE(least, path + 200);
}

// How long a store of node 0 takes until a thread of node 1 sees it, while so many blocks poll there.
uint64_t time_to_be_seen(unsigned pollers, double l2_bytes_per_second) {
  rig_config c;
  c.gpu.sms = 8;
  c.gpu.l2_bytes_per_second = l2_bytes_per_second;
  rig r(c);
  uint64_t sent = 0, seen = 0;
  r.launch(0, 1, 1, [&] {
    simt::sleep(20'000);
    sent = simt::now_ns();
    simt::store(r.remote(1), uint64_t{1});
  });
  r.launch(1, 1 + pollers, 256, [&] {
    // Every thread in a sector of its own; thread 0 of the grid sees the store.
    while (simt::load(r.local(1, thread() == 0 ? 0 : 64 + 32 * thread()), true) == 0 && seen == 0) {
    }
    if (thread() == 0) seen = simt::now_ns();
  });
  EXPECT_TRUE(r.run());
  return seen - sent;
}

TEST(gpu_bar, polling_threads_take_the_bandwidth_that_a_write_needs) {
  const uint64_t alone = time_to_be_seen(0, 1e10), crowded = time_to_be_seen(31, 1e10);
  EXPECT_GT(crowded, alone + 2000);  // 8,192 sectors of 32 bytes at 10 GB/s take 26 us
  EXPECT_LT(time_to_be_seen(31, 1e13), alone + 1000);
}

TEST(gpu_bar, traffic_from_outside_takes_bandwidth) {
  rig r;
  const auto l2_bytes = [&] { return r[1].counters().at("gpu.l2_bytes"); };
  r.launch(0, 1, 32, [&] { simt::store(r.remote(1, 8 * thread()), thread()); });
  ASSERT_TRUE(r.run());
  r.settle();
  EXPECT_EQ(l2_bytes(), 256u);  // whole sectors
  r.launch(0, 1, 1, [&] { (void)simt::load(r.remote(1)); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(l2_bytes(), 256u + 32u);
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
    got = simt::load(r.remote(2, r.cfg.segment_bytes - 4));  // half of it after the window's end
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

// Answers to a kernel that is no more find no one, and the next kernel runs.
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
