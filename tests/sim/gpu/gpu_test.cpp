// SPDX-License-Identifier: Apache-2.0
// Kernels on the GPU model: occupancy, local memory, streams, declared work, faults, determinism.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/sim/gpu/rig.hpp"

namespace ggas::test {
namespace {

using simt::scope;

rig_config small_gpu() {
  rig_config c;
  c.gpu.name = "test GPU";
  c.gpu.sms = 2;
  c.gpu.blocks_per_sm = 4;
  c.gpu.clock_mhz = 1000;
  return c;
}

TEST(gpu, every_thread_runs_once) {
  rig r(small_gpu());
  uint64_t* out = r.local(0);
  r.launch(0, 100, 96, [=] { simt::store(out + thread(), simt::load(out + thread()) + thread() + 1); });
  ASSERT_TRUE(r.run());
  for (uint64_t i = 0; i < 9600; ++i) ASSERT_EQ(out[i], i + 1);
  EXPECT_EQ(r[0].counters().at("gpu.blocks"), 100u);
}

TEST(gpu, an_empty_kernel_ends) {
  rig r(small_gpu());
  r.launch(0, 3, 64, [] {});
  ASSERT_TRUE(r.run());
  EXPECT_EQ(r.now_ns(), r.cfg.gpu.launch_ns);
}

TEST(gpu, local_load_costs_the_l2_latency) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  uint64_t took = 0;
  r.launch(0, 1, 1, [&] {
    const uint64_t before = simt::now_ns();
    for (int i = 0; i < 100; ++i) simt::load(p);
    took = simt::now_ns() - before;
  });
  ASSERT_TRUE(r.run());
  const double one = r.cfg.gpu.l2_latency_ns + r.cfg.gpu.op_cycles;  // 1 ns a cycle
  EXPECT_NEAR(double(took) / 100, one, one * 0.01);
}

TEST(gpu, l2_bandwidth_bounds_many_loads) {
  rig r(small_gpu());
  r.cfg.gpu.l2_bytes_per_second = 10e9;
  rig slow(r.cfg);
  uint64_t* p = slow.local(0);
  slow.launch(0, 8, 1024, [=] { simt::load(p + thread()); });
  const uint64_t before = slow.now_ns();
  ASSERT_TRUE(slow.run());
  const uint64_t ns = slow.now_ns() - before - slow.cfg.gpu.launch_ns;
  EXPECT_GE(ns, 8u * 1024 * 8 / 10);  // 64 KB at 10 GB/s
  EXPECT_LE(ns, 8u * 1024 * 8 / 10 + 2000);
}

TEST(gpu, a_thread_reads_its_own_store) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  int wrong = 0;
  r.launch(0, 4, 64, [&, p] {
    for (uint64_t i = 1; i < 50; ++i) {
      simt::store(p + thread(), i);
      wrong += simt::load(p + thread()) != i;
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

// Plain accesses are made by the processor of the host: the model does not see them.
TEST(gpu, plain_accesses_find_and_leave_what_the_program_says) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  int wrong = 0;
  r.launch(0, 4, 64, [&, p] {
    uint64_t* const mine = p + thread();
    for (uint64_t i = 1; i < 20; ++i) {
      simt::store(mine, i);
      wrong += *mine != i;
      simt::store(mine, i);
      *mine = i + 1;
      simt::fence(scope::gpu);
      wrong += *mine != i + 1;
      *mine = i + 2;
      wrong += simt::load(mine) != i + 2;
      wrong += simt::atomic<uint64_t>(mine, simt::rmw::add, 1, 0, scope::gpu) != i + 2;
      wrong += *mine != i + 3;
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

TEST(gpu, plain_accesses_behind_a_block_barrier_find_the_stores_before_it) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  int wrong = 0;
  r.launch(0, 2, 256, [&, p] {
    uint64_t* const mine = p + simt::block_index().x * 256;
    const unsigned me = simt::thread_linear(), other = (me + 100) % 256;
    for (uint64_t i = 1; i < 10; ++i) {
      simt::store(mine + me, i * 1000 + me);
      simt::sync_block(false);
      wrong += mine[other] != i * 1000 + other;
      simt::sync_block(false);
      simt::store(mine + me, i);
      simt::sync_block(false);
      mine[other] = i + 5;  // over another thread's store
      simt::sync_block(false);
      simt::sleep(2000);
      wrong += mine[me] != i + 5;
      simt::sync_block(false);
    }
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

// The time from a store to own memory until another block's poll sees it is a round trip to L2, and the rest of the
// poll's iteration.
TEST(gpu, others_see_a_store_a_round_trip_to_l2_later) {
  rig r(small_gpu());
  uint64_t* flag = r.local(0);
  uint64_t stored = 0, seen = 0;
  r.launch(0, 2, 1, [&, flag] {
    if (simt::block_index().x == 0) {
      simt::sleep(3000);
      stored = simt::now_ns();
      simt::store(flag, uint64_t(1));
    } else {
      while (simt::load(flag, true) == 0) {
      }
      seen = simt::now_ns();
    }
  });
  ASSERT_TRUE(r.run());
  const auto& g = r.cfg.gpu;  // 1 ns a cycle
  EXPECT_GE(seen - stored, g.op_cycles + g.l2_latency_ns);
  EXPECT_LE(seen - stored, 2 * (g.op_cycles + g.l2_latency_ns));
}

TEST(gpu, atomics_count_every_thread) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  r.launch(0, 20, 128, [=] { simt::atomic<uint64_t>(p, simt::rmw::add, 1, 0, scope::gpu); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(*p, 20u * 128);
}

TEST(gpu, blocks_beyond_residency_wait_for_room) {
  rig_config c = small_gpu();  // 2 SMs of 4 blocks
  rig r(c);
  unsigned now = 0, most = 0;
  r.launch(0, 20, 32, [&] {
    if (simt::thread_linear() == 0) most = std::max(most, ++now);
    simt::load(r.local(0));
    if (simt::thread_linear() == 0) --now;
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(most, 8u);
}

TEST(gpu, threads_and_warps_limit_residency) {
  rig_config c = small_gpu();
  c.gpu.threads_per_sm = 512;
  c.gpu.warps_per_sm = 16;
  rig r(c);
  unsigned now = 0, most = 0;
  r.launch(0, 20, 160, [&] {  // 5 warps: three fit into 16
    if (simt::thread_linear() == 0) most = std::max(most, ++now);
    simt::load(r.local(0));
    if (simt::thread_linear() == 0) --now;
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(most, 6u);
}

TEST(gpu, registers_limit_residency) {
  rig_config c;
  c.gpu.sms = 2;
  c.gpu.registers_per_thread = 128;  // 4,096 a warp: 16 warps
  rig r(c);
  const auto room = r[0].room_for(256);
  EXPECT_EQ(room.blocks, 4u);
  EXPECT_EQ(room.limit, "gpu.sms = 2, gpu.registers_per_thread = 128");
  EXPECT_EQ(r[0].check(1, 512), std::nullopt);
  EXPECT_NE(r[0].check(1, 544), std::nullopt);
  std::vector<uint64_t> began(8);
  r.launch(0, 8, 256, [&] {
    if (simt::thread_linear() == 0) began[simt::block_index().x] = simt::now_ns();
    simt::sleep(10'000);
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(std::ranges::count_if(began, [&](uint64_t at) { return at < began[0] + 10'000; }), 4);
}

// All resident blocks spin for a block that has no room. Blocks are not preempted, so there is no progress. A time-out
// reports it, and the GPU can be used again.
TEST(gpu, too_many_spinning_blocks_deadlock) {
  rig r(small_gpu());
  uint64_t* flag = r.local(0);
  r.launch(0, 9, 32, [=] {
    if (simt::block_index().x == 8)
      simt::store(flag, uint64_t(1));
    else
      while (simt::load(flag, true) == 0) {
      }
  });
  EXPECT_FALSE(r.run(100));
  const std::string why = r[0].blockage();
  EXPECT_NE(why.find("0 of 9 blocks ended, 8 resident, 1 have no room"), std::string::npos) << why;
  r[0].reset();
  EXPECT_TRUE(r[0].idle());
  r.launch(0, 8, 32, [=] { simt::store(flag + thread(), uint64_t(2)); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(flag[255], 2u);
}

TEST(gpu, check_names_the_rule) {
  rig r(small_gpu());
  EXPECT_FALSE(r[0].check({1}, {1024}));
  EXPECT_NE(r[0].check({1}, {1025}).value().find("1025"), std::string::npos);
  EXPECT_NE(r[0].check({0}, {32}).value().find("empty"), std::string::npos);
  EXPECT_NE(r[0].check({1}, {0}).value().find("empty"), std::string::npos);
}

TEST(gpu, kernels_of_a_stream_run_in_order_those_of_two_side_by_side) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  std::vector<int> order;
  const auto note = [&](int id, uint64_t ns) {
    return [&order, id, ns] {
      simt::sleep(ns);
      order.push_back(id);
    };
  };
  r.launch(0, 1, 1, note(1, 5000), 0);
  r.launch(0, 1, 1, note(2, 10), 0);
  r.launch(0, 1, 1, note(3, 1000), 1);
  ASSERT_TRUE(r.run());
  EXPECT_EQ(order, (std::vector{3, 1, 2}));
  (void)p;
}

// One call of the host after the other: a kernel waits for its own, or for its predecessor's end and the gap.
TEST(gpu, kernels_in_a_row_start_no_faster_than_the_host_launches_them) {
  rig_config c = small_gpu();
  c.gpu.launch_ns = 5000;
  c.gpu.launch_call_ns = 4000;
  c.gpu.kernel_gap_ns = 300;
  rig r(c);
  std::vector<uint64_t> began;
  const auto lasts = [&](uint64_t ns) {
    return [&began, ns] {
      began.push_back(simt::now_ns());
      simt::sleep(ns);
    };
  };
  r.launch(0, 1, 1, lasts(100), 0);
  r.launch(0, 1, 1, lasts(10'000), 0);
  r.launch(0, 1, 1, lasts(100), 0);
  r.launch(0, 1, 1, lasts(100), 1);  // another stream, the same host
  ASSERT_TRUE(r.run());
  ASSERT_EQ(began.size(), 4u);
  EXPECT_NEAR(double(began[0]), 5000, 100);
  EXPECT_NEAR(double(began[1]), 9000, 100);
  EXPECT_NEAR(double(began[2]), 17000, 100);
  EXPECT_NEAR(double(began[3]), 9000 + 10'000 + 300, 300);
}

TEST(gpu, block_barrier_wakes_every_warp) {
  rig r(small_gpu());
  uint64_t* p = r.local(0);
  int wrong = 0;
  r.launch(0, 2, 256, [&, p] {
    uint64_t* const mine = p + simt::block_index().x * 256;
    simt::store(mine + simt::thread_linear(), uint64_t(simt::thread_linear()));
    simt::sync_block(false);
    const unsigned other = (simt::thread_linear() + 100) % 256;
    wrong += simt::load(mine + other) != other;
  });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(wrong, 0);
}

// 2 SMs of 64 flops a cycle and 100 GB/s: bound by arithmetic or by memory, whichever takes longer.
TEST(gpu, declared_work_follows_the_roofline) {
  const auto run = [](uint64_t flops, uint64_t bytes) {
    rig r(small_gpu());
    r.launch(0, 8, 128, [=] { simt::compute(flops, bytes); });
    const uint64_t before = r.now_ns();
    EXPECT_TRUE(r.run());
    return double(r.now_ns() - before - r.cfg.gpu.launch_ns);
  };
  EXPECT_NEAR(run(10000, 0), 8 * 128 * 10000 / (2 * 64.0), 500);
  EXPECT_NEAR(run(0, 10000), 8 * 128 * 10000 / 100.0, 500);
  EXPECT_NEAR(run(10000, 10000), 8 * 128 * 10000 / 100.0, 500);
}

TEST(gpu, memory_of_another_gpu_is_a_fault) {
  rig r(small_gpu());
  uint64_t got = 0;
  r.launch(0, 1, 1, [&] { got = simt::load(r.local(1)); });
  ASSERT_TRUE(r.run());
  EXPECT_EQ(got, ~uint64_t(0));
  const auto f = r[0].take_fault();
  EXPECT_EQ(f.count, 1u);
  EXPECT_NE(f.first.find("no such memory"), std::string::npos) << f.first;
  EXPECT_EQ(r[0].take_fault().count, 0u);
}

TEST(gpu, lanes_reconverge_behind_a_polling_loop) {
  rig r(small_gpu());
  uint64_t* flag = r.local(0);
  r.launch(0, 1, 32, [&, flag] {
    const unsigned i = simt::thread_linear();
    while (simt::load(flag + i, true) == 0) {
    }
    simt::store(r.remote(1, 8 * i), uint64_t(i));
  });
  r.launch(
      0, 1, 32,
      [=] {
        const unsigned i = simt::thread_linear();
        simt::sleep(2000 + 1000 * i);
        simt::store(flag + i, uint64_t(1));
      },
      1);
  ASSERT_TRUE(r.run());
  r.settle();
  EXPECT_EQ(r.nic(0).seen.size(), 4u);  // 256 bytes in whole segments, although lanes left one by one
}

TEST(gpu, with_independent_threads_lanes_do_not_wait_for_ever) {
  rig_config c = small_gpu();
  c.gpu.lockstep_ns = 5000;
  rig r(c);
  uint64_t* flag = r.local(0);
  flag[0] = 1;
  r.launch(0, 1, 2, [=] {  // lane 1 waits for lane 0, which left the loop first
    while (simt::load(flag + simt::thread_linear(), true) == 0) {
    }
    simt::store(flag + 1, uint64_t(1));
  });
  EXPECT_TRUE(r.run());
  r.cfg.gpu.lockstep_ns = 0;
  rig lockstep(r.cfg);
  flag = lockstep.local(0);
  flag[0] = 1;
  lockstep.launch(0, 1, 2, [=] {
    while (simt::load(flag + simt::thread_linear(), true) == 0) {
    }
    simt::store(flag + 1, uint64_t(1));
  });
  EXPECT_FALSE(lockstep.run(1000));
}

TEST(gpu, exception_in_a_kernel_is_reported) {
  rig r(small_gpu());
  r.launch(0, 1, 32, [] { throw std::runtime_error("boom"); });
  r.run(100);
  EXPECT_NE(r[0].kernel_fault().find("boom"), std::string::npos);
  r[0].reset();
  EXPECT_TRUE(r[0].kernel_fault().empty());
}

// Whole runs repeat to the picosecond.
TEST(gpu, same_input_same_time) {
  const auto run = [] {
    rig r(small_gpu());
    for (unsigned n = 0; n < 2; ++n) {
      r.launch(n, 4, 64, [&r, n] {
        const uint64_t i = thread();
        for (uint64_t round = 1; round <= 3; ++round) {
          simt::store(r.remote(1 - n, 8 * i), round);
          while (simt::load(r.local(n, 8 * i), true) < round) {
          }
        }
      });
    }
    EXPECT_TRUE(r.run());
    return std::pair(r.now_ns(), r[0].counters());
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace ggas::test
