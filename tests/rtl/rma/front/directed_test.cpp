// SPDX-License-Identifier: Apache-2.0
// Pages, doorbells, work queues and status blocks, one rule after the other.
#include "tests/rtl/rma/front/bench.hpp"

namespace ggas::test::rma {
namespace {

constexpr uint64_t block = uint64_t{1} << 40;

setup page_context(unsigned v) { return {.pd = uint16_t(0x1000 + v), .status = block + 16 * v}; }
setup queue_context(unsigned v, unsigned log2 = 4) {
  return {.queue = true, .log2 = log2, .pd = uint16_t(v), .ring = (uint64_t{v} + 1) << 20, .status = block + 16 * v};
}

TYPED_TEST(front, every_split_of_a_descriptor_of_three_slots) {
  auto& b = this->b;
  b.start(9, page_context(9));
  for (unsigned cut = 1; cut < 24; ++cut) {
    for (unsigned swap = 0; swap < 2; ++swap) {
      std::vector<uint32_t> dws;
      for (unsigned i = 0; i < 3; ++i) {
        slot s;
        for (unsigned k = 0; k < 8; ++k) s[k] = uint32_t(b.d.bits());
        if (i == 0) s[0] = 7, s[1] = 40 << 8;
        b.ctx[9].stream.push_back(s);
        dws.insert(dws.end(), s.begin(), s.end());
      }
      // The ring of slots may end in between.
      const unsigned first = b.ctx[9].issued % page_slots * 8;
      b.ctx[9].issued += 3;
      auto put = [&](unsigned from, unsigned to) {
        const unsigned end = page_slots * 8;
        if ((first + from) / end != (first + to - 1) / end) {
          const unsigned part = end - (first + from);
          b.write(9 * 8192 + 0x1000 + 4 * (first + from), {dws.begin() + from, dws.begin() + from + part});
          from += part;
        }
        b.write(9 * 8192 + 0x1000 + 4 * ((first + from) % end), {dws.begin() + from, dws.begin() + to});
      };
      swap ? put(cut, 24) : put(0, cut);
      swap ? put(0, cut) : put(cut, 24);
      ASSERT_TRUE(b.settle());
      ASSERT_FALSE(b.ctx[9].whole());
    }
  }
  EXPECT_EQ(b.descriptors, 46u);
  b.check_blocks();
}

TYPED_TEST(front, slots_of_every_operation_and_size) {
  auto& b = this->b;
  b.start(200, page_context(200));
  for (uint32_t op = 0; op < 16; ++op) {
    for (uint32_t size : {0u, 1u, 4u, 5u, 8u, 32u, 33u, 64u, 65u, 0x400000u}) {
      const slot head{op, size << 8, 1, 2, 3, 4, 5, 6};
      const unsigned n = slots_of(head);
      b.post(200, head);
      for (unsigned i = 1; i < n; ++i) {
        ASSERT_TRUE(b.settle());
        ASSERT_EQ(b.ctx[200].stream.size(), i) << "started before it was whole";
        b.post(200, immediate(i));
      }
      ASSERT_TRUE(b.settle());
      ASSERT_TRUE(b.ctx[200].stream.empty()) << "op " << op << ", size " << size;
    }
  }
}

TYPED_TEST(front, a_slot_in_use_keeps_its_words) {
  auto& b = this->b;
  b.start(3, page_context(3));
  const slot s = immediate(77);
  b.ctx[3].stream.push_back(s);
  ++b.ctx[3].issued;
  const uint64_t at = 3 * 8192 + 0x1000;
  b.write(at, {s.begin(), s.begin() + 6});
  b.write(at, {9, 9}, true);
  b.write(at + 20, {9, s[6]}, true);  // DW 5 is there, DW 6 is not: it is taken
  b.write(at + 28, {s[7]});
  ASSERT_TRUE(b.settle());
  b.check_nothing_left();
  EXPECT_EQ(b.descriptors, 1u);
}

TYPED_TEST(front, writes_that_fit_nothing_are_reported_once) {
  auto& b = this->b;
  b.write(7 * 8192 + 0x1000, std::vector<uint32_t>(32, 1), true);  // off
  b.start(7, page_context(7));
  b.start(8, queue_context(8));
  b.write(7 * 8192 + 0x38, std::vector<uint32_t>(2, 1), true);
  b.write(8 * 8192 + 0x1000, std::vector<uint32_t>(32, 1), true);
  b.write(7 * 8192 + 0x10, {1}, true);  // no work queue
  ASSERT_TRUE(b.settle());
  b.write(7 * 8192 + 0x1000, {2});
  b.write(7 * 8192 + 0x1000, {3}, true);
  ASSERT_TRUE(b.settle());
  b.check_nothing_left();
}

TYPED_TEST(front, doorbells_in_one_write) {
  auto& b = this->b;
  b.start(255, queue_context(255));
  for (unsigned i = 0; i < 40; ++i) {
    b.write(255 * 8192 + 0x10, {0, 5, 100 + i, 6, 200 + i, 7, 300 + i, 8, 400 + i, 9});
    b.doorbell_events[0].push_back({0, 255, 0});
    b.doorbell_events[1].push_back({1, 255, 100 + i});
    b.doorbell_events[2].push_back({2, 255, 200 + i});
    b.doorbell_events[3].push_back({3, 255, 300 + i});
    b.doorbell_events[4].push_back({4, 255, 400 + i});
    b.write(255 * 8192 + 0x14, {1});  // upper half alone: nothing
  }
  ASSERT_TRUE(b.settle());
  b.check_nothing_left();
}

TYPED_TEST(front, nothing_starts_while_the_requester_is_off) {
  auto& b = this->b;
  b.requester = false;
  for (unsigned v = 0; v < 5; ++v) {
    b.start(v, page_context(v));
    for (unsigned i = 0; i < page_slots; ++i) b.post(v, immediate(i));
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 0u);
  b.stop(2);
  ASSERT_TRUE(b.drained(2));
  b.start(2, page_context(2));
  ASSERT_TRUE(b.settle());
  b.requester = true;
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 4u * page_slots);
  b.post(2, immediate(5));
  ASSERT_TRUE(b.settle());
  b.check_nothing_left();
  b.check_blocks();
}

TYPED_TEST(front, a_context_that_is_enabled_again_forgets_its_slots) {
  auto& b = this->b;
  b.start(4, page_context(4));
  for (unsigned i = 0; i < page_slots; ++i) b.write(4 * 8192 + 0x1000 + 32 * i, {1, 2, 3, 4});
  ASSERT_TRUE(b.settle());
  b.stop(4);
  ASSERT_TRUE(b.drained(4));
  b.start(4, page_context(4));
  for (unsigned i = 0; i < 3 * page_slots; ++i) {
    b.post(4, immediate(i));
    ASSERT_TRUE(i % 4 != 3 || b.settle());
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 3u * page_slots);
  b.check_nothing_left();
}

// A write to the page that comes with the write of CTRL already finds what that says.
TYPED_TEST(front, pages_see_ctrl_at_once) {
  auto& b = this->b;
  for (unsigned i = 0; i < 3; ++i) {
    context& c = b.ctx[6] = {};
    static_cast<setup&>(c) = page_context(6);
    c.on = true;
    b.config(6, 3, c.status);
    for (unsigned k = 0; k < 4; ++k) b.mem.set(c.status + 4 * k, 0);
    b.post(6, immediate(i));
    b.config(6, 0, c.ctrl());
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.descriptors, i + 1);
    b.write(6 * 8192 + 0x1020, {1}, true);
    b.stop(6);
    ASSERT_TRUE(b.settle());
    ASSERT_TRUE(b.drained(6));
  }
  b.check_nothing_left();
}

// Contexts that went off in the list are dropped while others' descriptors come back.
TYPED_TEST(front, the_dead_in_the_list_hinder_nobody) {
  auto& b = this->b;
  for (unsigned round = 0; round < 8; ++round) {
    b.requester = true;
    b.hold = 200;
    for (unsigned v = 0; v < 40; ++v) {
      b.start(v, page_context(v));
      for (unsigned i = 0; i < 4; ++i) b.post(v, immediate(i));
    }
    while (!b.page.empty()) b.step();
    for (unsigned i = 0; i < 100; ++i) b.step();
    b.requester = false;
    for (unsigned v = 100; v < 140; ++v) {
      b.start(v, page_context(v));
      b.post(v, immediate(v));
    }
    while (!b.page.empty()) b.step();
    for (unsigned v = 100; v < 140; v += 2) b.stop(v);
    b.requester = true;
    for (unsigned v = 100; v < 140; v += 2) {
      ASSERT_TRUE(b.drained(v));
      b.start(v, page_context(v));
      b.post(v, immediate(v));
    }
    ASSERT_TRUE(b.settle());
    b.check_nothing_left();
    b.check_blocks();
    for (unsigned v = 0; v < 140; ++v) {
      b.stop(v);
      ASSERT_TRUE(b.drained(v));
    }
  }
}

// Software breaks the rule to wait: descriptors may be lost, but afterwards the context goes on.
TYPED_TEST(front, enabling_a_busy_context_hangs_nothing) {
  auto& b = this->b;
  b.hold = 40;
  b.lenient = true;
  for (unsigned i = 0; i < 300; ++i) {
    const unsigned vpid = 1 + unsigned(b.d.below(3));
    b.start(vpid, {.pd = 1, .status = block + 16 * vpid});
    for (uint64_t n = b.d.below(4); n > 0; --n) b.post(vpid, immediate(i));
    for (uint64_t n = b.d.below(30); n > 0 || !b.page.empty(); n -= n > 0) b.step();
  }
  ASSERT_TRUE(b.settle());
  b.lenient = false;
  b.descriptors = 0;
  for (unsigned vpid = 1; vpid < 4; ++vpid) {
    b.stop(vpid);
    ASSERT_TRUE(b.drained(vpid));
    b.start(vpid, page_context(vpid));
    for (unsigned i = 0; i < page_slots; ++i) b.post(vpid, immediate(i));
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 3u * page_slots);
  b.check_nothing_left();
  b.check_blocks();
}

// Off in every state a context can be in: waiting for its turn, with the requester, reading its queue.
TYPED_TEST(front, all_contexts_at_once_go_off_and_come_back) {
  auto& b = this->b;
  b.hold = 3000;
  for (unsigned round = 0; round < 3; ++round) {
    const bool queue = round == 1;
    b.requester = round != 0;
    b.reads.percent = queue ? 1 : 100;
    for (unsigned v = 0; v < 256; ++v) {
      b.start(v, queue ? queue_context(v) : page_context(v));
      if (queue) {
        b.produce(v, immediate(v));
        b.doorbell(0, v, 1, false);
      } else {
        b.post(v, immediate(v));
        b.post(v, immediate(v + 1));
      }
    }
    for (unsigned i = 0; i < 3000; ++i) b.step();
    b.requester = true;
    for (unsigned i = 0; i < 900; ++i) b.step();
    for (unsigned v = 0; v < 256; ++v) b.stop(v);
    b.reads.percent = 100;
    for (unsigned v = 0; v < 256; ++v) ASSERT_TRUE(b.drained(v)) << v;
  }
  b.hold = 0;
  b.descriptors = 0;
  for (unsigned v = 0; v < 256; ++v) {
    b.start(v, page_context(v));
    b.post(v, immediate(v));
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 256u);
  b.check_nothing_left();
  b.check_blocks();
}

TYPED_TEST(front, a_ring_of_every_size_goes_round) {
  auto& b = this->b;
  b.mrrs = 4096;
  for (unsigned log2 : {4u, 5u, 7u, 16u}) {
    const unsigned v = 10 + log2;
    b.start(v, queue_context(v, log2));
    const unsigned total = log2 == 16 ? 300 : 3u << log2;
    while (b.ctx[v].issued < total) {
      for (unsigned n = 1 + unsigned(b.d.below(1u << log2)); n > 0 && b.room(v) && b.ctx[v].issued < total; --n)
        b.produce(v, immediate(b.ctx[v].issued));
      b.doorbell(0, v, b.ctx[v].issued, true);
      ASSERT_TRUE(b.settle());
    }
    EXPECT_EQ(b.ctx[v].consumed, total);
  }
  b.check_nothing_left();
  b.check_blocks();
}

TYPED_TEST(front, a_doorbell_beyond_the_ring_is_refused) {
  auto& b = this->b;
  b.start(30, queue_context(30));
  b.doorbell(0, 30, 17, false);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.bad_doorbells, std::vector<uint64_t>{30});
  for (unsigned i = 0; i < 16; ++i) b.produce(30, immediate(i));
  b.doorbell(0, 30, 16, false);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.ctx[30].consumed, 16u);
  EXPECT_EQ(b.bad_doorbells.size(), 1u);
}

TYPED_TEST(front, slots_that_cannot_be_read_are_bad_descriptors) {
  auto& b = this->b;
  b.fail_percent = 100;
  b.start(31, queue_context(31));
  for (unsigned i = 0; i < 3; ++i) b.produce(31, immediate(i));
  b.doorbell(0, 31, 3, false);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.descriptors, 3u);
  EXPECT_EQ(b.failed_reads, std::vector<uint64_t>{32u << 20});
  b.fail_percent = 0;
  b.produce(31, immediate(8));
  b.doorbell(0, 31, 4, false);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.ctx[31].consumed, 4u);
}

TYPED_TEST(front, a_read_without_an_answer_is_given_up) {
  auto& b = this->b;
  b.timeout = 3;
  b.mute = true;
  b.start(32, queue_context(32));
  for (unsigned i = 0; i < 3; ++i) b.produce(32, immediate(i));
  b.doorbell(0, 32, 3, false);
  for (unsigned i = 0; i < 6 * 1024 && b.descriptors < 3; ++i) b.step();
  EXPECT_EQ(b.descriptors, 3u);
  EXPECT_EQ(b.failed_reads, std::vector<uint64_t>{33u << 20});
  b.mute = false;
  b.produce(32, immediate(8));
  b.doorbell(0, 32, 4, false);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.ctx[32].consumed, 4u);
  b.check_blocks();
}

TYPED_TEST(front, changes_share_a_status_write) {
  auto& b = this->b;
  b.wr.percent = 1;
  b.start(40, page_context(40));
  for (unsigned i = 0; i < page_slots; ++i) b.post(40, immediate(i));
  ASSERT_TRUE(b.settle());
  b.check_blocks();
  EXPECT_LT(b.status_writes, 12u);
  const uint64_t before = b.status_writes;
  setup quiet = page_context(41);
  quiet.status = 0;
  b.start(41, quiet);
  for (unsigned i = 0; i < page_slots; ++i) b.post(41, immediate(i));
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.ctx[41].consumed, page_slots);
  EXPECT_EQ(b.status_writes, before) << "a context without a status block";
}

}  // namespace
}  // namespace ggas::test::rma
