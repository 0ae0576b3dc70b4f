// SPDX-License-Identifier: Apache-2.0
// Programs of simulated processors that drive their GPU: kernels, copies by the copy engine, events.
#include <cstring>
#include <vector>

#include "ggas/launch.hpp"
#include "tests/userlib/host_rig.hpp"

namespace ggas::test {
namespace {

__global__ void add_one(uint64_t at, uint64_t words) {
  for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) {
    uint64_t* const word = ggas_pointer_of_node<uint64_t>(ggas_node(), at + 8 * i);
    ggas_store(word, ggas_load(word) + 1);
  }
}

__global__ void work_for(uint64_t ns) {
  const uint64_t end = detail::clock_ns() + ns;
  while (detail::clock_ns() < end) __nanosleep(100);
}

TEST(host_gpu, KernelsAndCopiesInTheProgramsOrder) {
  const auto c = make("sim");
  const uint64_t at = c->device_context(0).reserved, words = 1000;
  auto* const pinned = reinterpret_cast<uint64_t*>(c->host_memory(0).base);
  const event done = *c->make_event(0);
  uint64_t took_ns = 0;
  ASSERT_TRUE(c->launch_host(0, [&](host& h) {
    for (uint64_t i = 0; i < words; ++i) h.store(pinned + i, i);
    const uint64_t begin = h.now_ns();
    ASSERT_TRUE(c->copy_on_stream(0, c->segment(0) + at, pinned, 8 * words));
    ASSERT_TRUE(launch(*c, 0, 1, 32, add_one, at, words));
    ASSERT_TRUE(c->copy_on_stream(0, pinned + words, c->segment(0) + at, 8 * words));
    ASSERT_TRUE(c->record(done, 0));
    EXPECT_EQ(h.load(pinned + words), 0u) << "nothing begins before start()";
    h.start();
    EXPECT_TRUE(h.synchronise(done, host_sync::stream, 10 * ms));
    took_ns = h.now_ns() - begin;
    for (uint64_t i = 0; i < words; ++i) EXPECT_EQ(h.load(pinned + words + i), i + 1);
  }));
  const auto ran = c->run(second);
  ASSERT_TRUE(ran) << ran.error().text;
  EXPECT_GT(took_ns, 12250u + 2 * 8 * words * 1000 / 4000);  // C7; 4 GB/s of PCIe 2.0 x8
  EXPECT_EQ(c->counters(0).at("gpu.kernels"), 1u);
  EXPECT_EQ(c->counters(0).at("gpu.copies"), 2u);
}

TEST(host_gpu, CopiesBetweenAllMemoriesOfEverySize) {
  const auto c = make("sim");
  const uint64_t at = c->device_context(0).reserved;
  const size_t room = 128 << 10;
  std::byte* const gpu = c->segment(0) + at;
  std::byte* const pinned = c->host_memory(0).base;
  for (std::byte* const from : {gpu, pinned})
    for (std::byte* const to : {gpu + room, pinned + room})
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{13}, size_t{4097}, size_t{100000}}) {
        for (size_t i = 0; i < room; ++i) from[i] = std::byte(i * 7 + bytes), to[i] = std::byte{0};
        ASSERT_TRUE(c->copy_on_stream(0, to + 3, from + 5, bytes));
        ASSERT_TRUE(c->run(second));
        EXPECT_EQ(std::memcmp(to + 3, from + 5, bytes), 0) << bytes;
        EXPECT_EQ(to[2], std::byte{0});
        EXPECT_EQ(to[3 + bytes], std::byte{0});
      }
}

TEST(host_gpu, NoBytesAtTheEndOfASegment) {
  const auto c = make("sim");
  ASSERT_TRUE(c->copy_on_stream(0, c->segment(0) + c->segment_bytes(), c->host_memory(0).base, 0));
  const auto ran = c->run(second);
  EXPECT_TRUE(ran) << ran.error().text;
}

// Two streams: the processor waits for the one while the other goes on, and each kind of waiting has its cost.
TEST(host_gpu, EventsTimeOutAndCostWhatTheirKindCosts) {
  const auto c = make("sim");
  const stream other = *c->make_stream(0);
  const event slow = *c->make_event(0), fast = *c->make_event(0);
  ASSERT_TRUE(c->launch_host(0, [&](host& h) {
    ASSERT_TRUE(launch(*c, 0, 1, 1, work_for, 500 * us));
    ASSERT_TRUE(c->record(slow, 0));
    ASSERT_TRUE(launch(*c, other, 1, 1, work_for, 1 * us));
    ASSERT_TRUE(c->record(fast, other));
    h.start();
    EXPECT_TRUE(h.synchronise(fast, host_sync::event, 100 * us));
    EXPECT_FALSE(*c->reached(slow));
    EXPECT_FALSE(h.synchronise(slow, host_sync::event, 100 * us)) << "it takes longer";
    EXPECT_TRUE(h.synchronise(slow, host_sync::event, 1 * ms));
    const uint64_t begin = h.now_ns();
    EXPECT_TRUE(h.synchronise(slow, host_sync::event_blocking, 0)) << "it was reached before";
    EXPECT_EQ(h.now_ns() - begin, 65710u - 5000u);
  }));
  const auto ran = c->run(second);
  ASSERT_TRUE(ran) << ran.error().text;
}

// A run that gives up ends a program in its wait; what it waited for ends later, and finds no program.
TEST(host_gpu, AProgramIsEndedWhileItWaits) {
  const auto c = make("sim");
  const event never = *c->make_event(0);
  ASSERT_TRUE(c->launch_host(0, [&](host& h) {
    ASSERT_TRUE(launch(*c, 0, 1, 1, work_for, 200 * us));
    ASSERT_TRUE(c->record(never, 0));
    h.start();
    h.synchronise(never, host_sync::stream, second);
    ADD_FAILURE() << "the run is over";
  }));
  EXPECT_FALSE(c->run(50 * us));
  ASSERT_TRUE(launch(*c, 0, 1, 1, work_for, 1 * us));
  EXPECT_TRUE(c->run(second));
}

TEST(host_gpu, OtherProvidersRefuse) {
  const auto c = make("shm");
  ASSERT_TRUE(c->launch_host(
      0, [](host& h) { h.start(); }, "driver"));
  const auto ran = c->run(second);
  ASSERT_FALSE(ran);
  EXPECT_TRUE(has(ran.error().text, "provider sim alone")) << ran.error().text;
}

}  // namespace
}  // namespace ggas::test
