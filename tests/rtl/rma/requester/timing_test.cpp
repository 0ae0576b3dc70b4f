// SPDX-License-Identifier: Apache-2.0
// Cycles through an idle requester, its rates, and how contexts share it.
#include <map>

#include "tests/rtl/rma/requester/suite.hpp"

namespace ggas::test::requester {
namespace {

template <class T>
class rma_requester_timing : public suite<T> {
 protected:
  using base = suite<T>;
  using base::b;
  static constexpr unsigned words = T::width / 32;
  void SetUp() override {
    base::serve();
    for (unsigned v = 0; v < 8; ++v) b.enable(uint8_t(v));
    b.run(4);
  }
  // Cycles for `n` descriptors of each of `contexts` contexts.
  uint64_t cycles(unsigned contexts, unsigned n, const descriptor& d) {
    for (unsigned v = 0; v < contexts; ++v)
      for (unsigned i = 0; i < n; ++i) b.post(uint8_t(v), d);
    const uint64_t begin = b.now;
    EXPECT_TRUE(b.settle());
    std::printf("%u contexts, %u bytes, ack %d: %.2f cycles a descriptor\n", contexts, d.size, d.ack,
                double(b.now - begin) / (contexts * n));
    return b.now - begin;
  }
};
TYPED_TEST_SUITE(rma_requester_timing, widths);

TYPED_TEST(rma_requester_timing, immediate_put_in_three_cycles) {
  auto& b = this->b;
  b.post(1, this->imm(0x1000));
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.tx_first - b.desc_first, 3u);
}

// The fetch command is worked out in one stage more.
TYPED_TEST(rma_requester_timing, put_in_four_cycles) {
  auto& b = this->b;
  b.post(1, this->put(0x1000, 0x2000, 64));
  for (unsigned i = 0; i < 8 && !b.v.cmd_valid_o; ++i) b.step();
  EXPECT_EQ(b.now - b.desc_first, 4u);
  EXPECT_TRUE(b.settle());
}

TYPED_TEST(rma_requester_timing, immediate_puts) {
  const unsigned beats = 2 / this->words + 1 - (this->words > 2);
  EXPECT_LE(this->cycles(1, 200, this->imm(0x1000)), 200 * 4 + 20u) << "one context";
  EXPECT_LE(this->cycles(8, 100, this->imm(0x1000)), 800 * std::max(2u, beats) + 20) << "eight contexts";
  descriptor acked = this->imm(0x1000);
  acked.ack = true;
  EXPECT_LE(this->cycles(8, 100, acked), 800 * 3 + 100u) << "with answers";
}

TYPED_TEST(rma_requester_timing, puts_of_one_context_are_pipelined) {
  this->b.pace.fetch_room = 32;
  this->b.pace.fetch_delay = 0;
  EXPECT_LE(this->cycles(1, 200, this->put(0x1000, 0x2000, 256)), 200 * 5 + 40u);
  EXPECT_LE(this->cycles(1, 1, this->put(0x1000, 0x2000, 1 << 16)), 256 * 5 + 40u);
}

// A long put leaves room for every other member: a packet of each in turn.
TYPED_TEST(rma_requester_timing, long_puts_take_turns) {
  auto& b = this->b;
  b.pace.fetch_room = 2;
  struct order : checker {
    std::vector<uint8_t> seen;
    void commanded(const command& c) override {
      checker::commanded(c);
      seen.push_back(c.hdr.svpid());
    }
  } order;
  bench<typename TypeParam::top, TypeParam::width> two(base_seed(), order);
  two.enable(1);
  two.enable(2);
  two.pace.fetch_room = 2;
  two.post(1, this->put(0x1000, 0x2000, 1 << 14));
  two.run(100);
  two.post(2, this->put(0x1000, 0x2000, 1 << 12));
  EXPECT_TRUE(two.settle());
  const auto first = std::ranges::find(order.seen, 2);
  ASSERT_NE(first, order.seen.end());
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(first[i], i % 2 ? 1 : 2) << i;
  order.finish();
}

// A context that is not busy can be seen to be so while others are.
TYPED_TEST(rma_requester_timing, busy_is_of_a_context) {
  auto& b = this->b;
  for (unsigned i = 0; i < 200; ++i) b.post(2, this->imm(0x1000));
  b.post(3, this->imm(0x1000));
  unsigned busy = 0;
  for (unsigned i = 0; i < 300; ++i) {
    b.step();
    busy += b.busy(3);
  }
  EXPECT_GE(busy, 1u);
  EXPECT_LE(busy, 10u);
  EXPECT_TRUE(b.settle());
}

// Whatever a stuck network holds up, answers and descriptors are taken.
TYPED_TEST(rma_requester_timing, answers_are_taken_while_the_network_is_stuck) {
  auto& b = this->b;
  descriptor d = this->imm(0x1000);
  d.ack = true;
  for (unsigned i = 0; i < 20; ++i) b.post(1, d);
  b.pace.answer_delay = 0;
  b.policy.target = [&](const packet& p) -> std::optional<answer> { return answer_to(p); };
  b.run(30);
  b.pace.tx = 0;
  b.pace.cmd = 0;
  b.run(60);
  EXPECT_TRUE(b.answers.empty());
  for (unsigned i = 0; i < 4; ++i) b.say({.vpid = 5, .epoch = 0, .status = net_status::ok, .node = peer_node});
  b.run(20);
  EXPECT_TRUE(b.answers.empty());
  EXPECT_EQ(b.events[size_t(event::unexpected)], 4u);
  b.pace.tx = b.pace.cmd = 100;
  EXPECT_TRUE(b.settle());
}

}  // namespace
}  // namespace ggas::test::requester
