// SPDX-License-Identifier: Apache-2.0
// The native scheduler: streams, residency, time-outs, and memory orders between real threads.
#include <gtest/gtest.h>

#include <set>

#include "gpu_api/simt/device.hpp"
#include "gpu_api/simt/native.hpp"

namespace ggas::simt {
namespace {

constexpr uint64_t second = 1'000'000'000;

class Native : public testing::TestWithParam<bool> {
 protected:
  native_config config(unsigned resident = 0) const { return {resident, GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Threads, Native, testing::Bool(),
                         [](const auto& i) { return i.param ? "ThreadAStream" : "OneThread"; });

TEST_P(Native, KernelsOfOneStreamRunInOrder) {
  native_scheduler s(config(), 1);
  std::vector<int> order;
  for (int k = 0; k < 4; ++k) s.enqueue(0, {3, 1, [&, k] { order.push_back(k); }}, nullptr);
  ASSERT_TRUE(s.run(10 * second));
  EXPECT_EQ(order, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
}

TEST_P(Native, StreamsRunSideBySideWithTheirContexts) {
  const unsigned n = 4;
  native_scheduler s(config(), n);
  std::vector<uint32_t> ring(n);
  uint32_t ids[n] = {0, 1, 2, 3};
  for (unsigned i = 0; i < n; ++i) {
    s.enqueue(i,
              {1, 1,
               [&] {  // a token goes round twice: every stream must move while the others wait
                 const uint32_t me = *static_cast<const uint32_t*>(device_context());
                 for (uint32_t lap = 0; lap < 2; ++lap) {
                   const uint32_t want = lap * n + me;
                   while (load(&ring[me], true) != want) {
                   }
                   store(&ring[(me + 1) % n], me + 1 == n ? (lap + 1) * n : want + 1);
                 }
               }},
              &ids[i]);
  }
  auto r = s.run(10 * second);
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(ring[0], 2 * n);
}

// Blocks wait for the last one. They are not preempted: with fewer places than blocks the kernel can never end.
TEST_P(Native, TooManySpinningBlocksDeadlockAndTheTimeOutNamesThem) {
  for (unsigned resident : {4u, 3u}) {
    native_scheduler s(config(resident), 1);
    uint32_t flag = 0;
    launch l{4, 32, [&] {
               if (blockIdx.x == 3) store(&flag, 1u);
               while (!load(&flag, true)) {
               }
               __syncwarp();
             }};
    l.name = "spinner";
    s.enqueue(0, l, nullptr);
    auto r = s.run(resident == 4 ? 10 * second : second / 20);
    if (resident == 4) {
      EXPECT_TRUE(r) << r.error().text;
      continue;
    }
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().why, native_error::kind::timed_out);
    EXPECT_NE(r.error().text.find("'spinner' on GPU 0, 3 of 4 blocks resident, 1 not started"), std::string::npos)
        << r.error().text;
    EXPECT_NE(r.error().text.find("block 2 warp 0: lanes 0-31 running, last poll 4 B"), std::string::npos)
        << r.error().text;
    s.enqueue(0, {1, 1, [&] { flag = 2; }}, nullptr);  // usable afterwards
    ASSERT_TRUE(s.run(second));
    EXPECT_EQ(flag, 2u);
  }
}

TEST_P(Native, ABarrierNobodyCanReachIsReportedWithoutWaiting) {
  native_scheduler s(config(), 2);
  s.enqueue(1,
            {1, 64,
             [] {
               if (threadIdx.x == 63) __syncwarp();
               __syncthreads();
             }},
            nullptr);
  auto r = s.run(3600 * second);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().why, native_error::kind::failed);
  EXPECT_NE(r.error().text.find("on GPU 1"), std::string::npos) << r.error().text;
  EXPECT_NE(r.error().text.find("lanes 31 in __syncwarp"), std::string::npos) << r.error().text;
}

TEST_P(Native, AFaultStopsEveryStream) {
  native_scheduler s(config(), 2);
  uint32_t never = 0;
  s.enqueue(0,
            {1, 1,
             [&] {
               while (!load(&never)) {
               }
             }},
            nullptr);
  s.enqueue(1, {1, 1, [] { throw 1; }, "thrower"}, nullptr);
  auto r = s.run(60 * second);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().why, native_error::kind::failed);
  EXPECT_NE(r.error().text.find("'thrower'"), std::string::npos) << r.error().text;
}

TEST_P(Native, SleepLastsAtLeastItsTime) {
  native_scheduler s(config(), 1);
  uint64_t slept = 0;
  s.enqueue(0,
            {1, 1,
             [&] {
               const uint64_t start = now_ns();
               __nanosleep(2'000'000);
               slept = now_ns() - start;
             }},
            nullptr);
  ASSERT_TRUE(s.run(10 * second));
  EXPECT_GE(slept, 2'000'000u);
}

TEST_P(Native, ResidencyIsALimitNotATarget) {
  native_scheduler s(config(2), 1);
  std::set<unsigned> live;
  size_t most = 0;
  uint32_t x = 0;
  s.enqueue(0,
            {9, 1,
             [&] {
               live.insert(blockIdx.x);
               most = std::max(most, live.size());
               for (int i = 0; i < 5; ++i) atomicAdd(&x, 1);
               live.erase(blockIdx.x);
             }},
            nullptr);
  ASSERT_TRUE(s.run(10 * second));
  EXPECT_EQ(x, 45u);
  EXPECT_EQ(most, 2u);
}

// ---- litmus tests, with one real thread a stream

struct alignas(64) padded {
  uint32_t v = 0;
};

// Message passing: data, fence, flag | flag, fence, data. Seeing the flag and not the data is forbidden.
TEST(Litmus, MessagePassingWithFences) {
  constexpr uint32_t rounds = 20000;
  padded data, flag, ack;
  uint32_t bad = 0;
  native_scheduler s({0, true}, 2);
  s.enqueue(0,
            {1, 1,
             [&] {
               for (uint32_t i = 1; i <= rounds; ++i) {
                 store(&data.v, i);
                 fence(scope::sys);
                 store(&flag.v, i);
                 while (load(&ack.v, true) < i / 64 * 64) {
                 }
               }
             }},
            nullptr);
  s.enqueue(1,
            {1, 1,
             [&] {
               for (uint32_t seen = 0; seen < rounds;) {
                 seen = load(&flag.v, true);
                 fence(scope::sys);
                 if (load(&data.v) < seen) ++bad;
                 store(&ack.v, seen);
               }
             }},
            nullptr);
  auto r = s.run(120 * second);
  ASSERT_TRUE(r) << r.error().text;
  EXPECT_EQ(bad, 0u);
}

// Store buffering: x = 1, fence, read y | y = 1, fence, read x. Both reading 0 is forbidden.
TEST(Litmus, StoreBufferingWithFences) {
  constexpr uint32_t rounds = 4000;
  std::vector<padded> x(rounds), y(rounds), r0(rounds), r1(rounds);
  padded here, there;
  auto side = [](std::vector<padded>& mine, std::vector<padded>& other, std::vector<padded>& result, padded& my_turn,
                 padded& its_turn) {
    return [&] {
      for (uint32_t i = 0; i < mine.size(); ++i) {
        store(&my_turn.v, i + 1);
        while (load(&its_turn.v, true) < i + 1) {  // start together
        }
        store(&mine[i].v, 1u);
        fence(scope::sys);
        result[i].v = load(&other[i].v);
      }
    };
  };
  native_scheduler s({0, true}, 2);
  s.enqueue(0, {1, 1, side(x, y, r0, here, there)}, nullptr);
  s.enqueue(1, {1, 1, side(y, x, r1, there, here)}, nullptr);
  auto r = s.run(120 * second);
  ASSERT_TRUE(r) << r.error().text;
  for (uint32_t i = 0; i < rounds; ++i) EXPECT_TRUE(r0[i].v || r1[i].v) << "round " << i;
}

}  // namespace
}  // namespace ggas::simt
