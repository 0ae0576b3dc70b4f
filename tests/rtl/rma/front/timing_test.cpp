// SPDX-License-Identifier: Apache-2.0
// How fast descriptors pass when nothing holds them up, and that contexts share.
#include "tests/rtl/rma/front/bench.hpp"

namespace ggas::test::rma {
namespace {

TYPED_TEST(front, a_descriptor_is_offered_three_cycles_after_its_last_word) {
  auto& b = this->b;
  for (unsigned v : {0u, 77u, 255u}) {
    b.start(v, {.pd = uint16_t(v)});
    ASSERT_TRUE(b.settle());
    b.post(v, immediate(v));
    while (!b.page.empty()) b.step();
    const uint64_t in = b.now - 1;
    b.first_seen = 0;
    ASSERT_TRUE(b.settle());
    EXPECT_LE(b.first_seen - in, 3u);
    printf("last word to offer: %llu cycles\n", static_cast<unsigned long long>(b.first_seen - in));
  }
}

// The requester gives a descriptor back two cycles after it took it.
TYPED_TEST(front, one_context_sustains_a_descriptor_in_six_cycles) {
  auto& b = this->b;
  b.requester = false;
  b.start(5, {.pd = 5});
  for (unsigned i = 0; i < page_slots; ++i) b.post(5, immediate(i));
  ASSERT_TRUE(b.settle());
  b.requester = true;
  ASSERT_TRUE(b.settle());
  ASSERT_EQ(b.taken.size(), page_slots);
  const double pace = double(b.taken.back().first - b.taken.front().first) / (page_slots - 1);
  printf("one context: %.2f cycles a descriptor\n", pace);
  EXPECT_LE(pace, 6.0);
}

TYPED_TEST(front, contexts_together_sustain_a_descriptor_in_three_cycles_and_take_turns) {
  auto& b = this->b;
  constexpr unsigned n = 12;
  b.requester = false;
  for (unsigned v = 0; v < n; ++v) {
    b.start(v * 20, {.pd = 5});
    for (unsigned i = 0; i < page_slots; ++i) b.post(v * 20, immediate(i));
  }
  ASSERT_TRUE(b.settle());
  b.requester = true;
  ASSERT_TRUE(b.settle());
  ASSERT_EQ(b.taken.size(), n * page_slots);
  const double pace = double(b.taken.back().first - b.taken.front().first) / (n * page_slots - 1);
  printf("%u contexts: %.2f cycles a descriptor\n", n, pace);
  EXPECT_LE(pace, 3.0);
  std::array<unsigned, n> count{};
  for (size_t i = 0; i < b.taken.size() / 2; ++i) ++count[b.taken[i].second / 20];
  for (unsigned c : count) EXPECT_NEAR(c, page_slots / 2, 1);
}

// Whole slots come in a beat a cycle.
TYPED_TEST(front, pages_take_a_beat_a_cycle) {
  auto& b = this->b;
  constexpr unsigned n = 10, beats = TypeParam::width < 256 ? 256 / TypeParam::width : 1;
  b.requester = false;
  for (unsigned v = 0; v < n; ++v) b.start(v, {.pd = 5});
  for (unsigned v = 0; v < n; ++v)
    for (unsigned i = 0; i < page_slots; ++i) b.post(v, immediate(i));
  const uint64_t from = b.now;
  while (!b.page.empty()) b.step();
  printf("%llu cycles for %u slots\n", static_cast<unsigned long long>(b.now - from), n * page_slots);
  EXPECT_LE(b.now - from, n * page_slots * beats + 2);
  b.requester = true;
  ASSERT_TRUE(b.settle());
}

// Doorbells of work queues come faster than they are served: none is lost.
TYPED_TEST(front, doorbells_of_queues_wait) {
  auto& b = this->b;
  constexpr unsigned n = 20, slots = 8;
  for (unsigned v = 0; v < n; ++v)
    b.start(v, {.queue = true, .ring = uint64_t{v + 1} << 20, .status = (uint64_t{v} << 12) + 64});
  for (unsigned v = 0; v < n; ++v)
    for (unsigned i = 0; i < slots; ++i) b.produce(v, immediate(i));
  for (unsigned v = 0; v < n; ++v) b.doorbell(0, v, slots, false);
  ASSERT_TRUE(b.settle());
  for (unsigned v = 0; v < n; ++v) EXPECT_EQ(b.ctx[v].consumed, slots) << "context " << v;
}

// Page writes of others do not starve a work queue, nor the other way round.
TYPED_TEST(front, pages_and_queues_share) {
  auto& b = this->b;
  b.start(1, {.pd = 1});
  b.start(2, {.queue = true, .log2 = 8, .ring = 1 << 20, .status = uint64_t{1} << 40});
  for (unsigned i = 0; i < 200; ++i) b.produce(2, immediate(i));
  b.doorbell(0, 2, 200, false);
  while (!b.page.empty()) b.step();
  for (unsigned i = 0; i < 20000; ++i) b.write(1 * 8192 + 0x1100, {1}, i > 0);
  const uint64_t from = b.now;
  while (b.ctx[2].consumed < 200 && b.now < from + 10000) b.step();
  EXPECT_EQ(b.ctx[2].consumed, 200u);
  EXPECT_FALSE(b.page.empty()) << "the flood was over too soon to tell";
  ASSERT_TRUE(b.settle());
  b.check_nothing_left();
}

}  // namespace
}  // namespace ggas::test::rma
