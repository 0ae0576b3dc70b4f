// SPDX-License-Identifier: Apache-2.0
// rma_answer: whose responses are written, and what the requester is informed of them.
#include "Vanswer_256.h"
#include "Vanswer_512.h"
#include "Vanswer_64.h"
#include "tests/rtl/rma/target/answer_bench.hpp"

namespace ggas::test::rma {
namespace {

template <class T>
class Answer : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths =
    testing::Types<answer_bench<Vanswer_64, 64>, answer_bench<Vanswer_256, 256>, answer_bench<Vanswer_512, 512>>;
TYPED_TEST_SUITE(Answer, widths);

TYPED_TEST(Answer, DataOfEveryLengthAndAlignment) {
  auto& b = this->b;
  b.start(3);
  for (unsigned mps : {128u, 256u}) {
    b.v.cfg_mps_i = uint16_t(mps);
    for (unsigned bytes = 1; bytes <= 256; bytes += bytes < 40 || bytes > 200 ? 1 : 7)
      for (unsigned offset : {0u, 1u, 2u, 3u, 4u, 61u}) b.send(b.data(3, 0x34000 + offset, bytes));
    b.send(b.make(op::rma_get_done, 3));
    ASSERT_TRUE(b.settle());
  }
}

TYPED_TEST(Answer, TheDomainIsThatOfTheContext) {
  auto& b = this->b;
  b.start(3);
  b.start(4);
  b.send(b.of(b.data(3, 0x43000, 8), 1, 5, 4, nic::rma_first));  // of context 4
  packet p = b.data(3, 0x43000, 8);
  p.set_pd(b.domain(4));
  b.send(b.of(p, 1, 5, 4));  // no one asked for it
  b.send(b.of(b.data(4, 0x43000, 8), 1, 6, 4, nic::rma_first));
  b.send(b.of(b.make(op::rma_get_done, 4), 1, 6, 4));
  b.send(b.of(b.make(op::rma_get_done, 3), 1, 5, 4));
  EXPECT_EQ(b.last_status(), uint8_t(net_status::protection));
  b.send(b.of(b.data(3, 0x33000, 8), 1, 5, 4, nic::rma_first));
  b.send(b.of(b.make(op::rma_get_done, 3), 1, 5, 4));
  EXPECT_EQ(b.last_status(), uint8_t(net_status::ok));
  b.send(b.result(3, 0x43000));
  b.send(b.result(3, 0x33000));
  b.send(b.result(3, 0x33008));
  b.send(b.result(3, 0x33000, net_status::timeout));
  ASSERT_TRUE(b.settle());
}

TYPED_TEST(Answer, LateDataIsNotWritten) {
  auto& b = this->b;
  b.send(b.data(5, 0x50000, 8));  // never started
  ASSERT_TRUE(b.settle());
  b.start(5);
  b.send(b.data(5, forbidden, 8));
  const packet late = b.data(5, 0x50000, 8), late_result = b.result(5, 0x50000);
  ASSERT_TRUE(b.settle());
  b.give_up(5);
  b.send(late);
  b.send(late_result);
  b.send(b.make(op::rma_get_done, 5));  // the refusal belongs to the epoch before
  ASSERT_TRUE(b.settle());
  EXPECT_TRUE(b.mem.words().empty());
  b.start(5, false);
  b.send(b.data(5, 0x50000, 8));
  ASSERT_TRUE(b.settle());
  EXPECT_TRUE(b.mem.words().empty());
}

// Answers to requests of a former owner of a context are dropped: neither its data nor its results arrive, and if the
// count of starts has wrapped, the domain still distinguishes them.
TYPED_TEST(Answer, FormerOwnersAreForgotten) {
  auto& b = this->b;
  constexpr uint16_t next_owner = 0x2468;
  for (unsigned starts : {1u, 31u, 32u, 64u}) {
    b.start(3);
    const std::array late{b.data(3, 0x33000, 8), b.result(3, 0x33000), b.make(op::rma_ack, 3),
                          b.make(op::rma_ack, 3, net_status::protection), b.make(op::rma_get_done, 3)};
    b.start(3, false);
    for (const packet& p : late) b.send(p);  // it is off: the answers end what it still waits for
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.expected_events.size(), 2u);
    for (unsigned n = 0; n < starts; ++n) {
      b.start(3, false);
      b.start(3, true, starts % 32 ? b.domain(3) : next_owner);
    }
    for (const packet& p : late) b.send(p);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.expected_events.size(), 7u);
    EXPECT_TRUE(b.mem.words().empty());
    b.events.clear(), b.expected_events.clear();
  }
}

// The status belongs to the get, whatever else its context has under way, at the same node and at others.
TYPED_TEST(Answer, GetsOfOneContextUnderWayAtOnce) {
  auto& b = this->b;
  constexpr unsigned nodes = 3, places = 16;
  struct get {
    uint8_t vpid = 0;
    unsigned left = 0, what = 0;
    bool begun = false, refused = false;
  };
  std::array<std::array<get, places>, nodes> under_way{};
  for (uint8_t vpid : {3, 4}) b.start(vpid);
  unsigned refused = 0, good = 0;
  for (unsigned n = 0; n < 6000; ++n) {
    if (n % 400 == 0) {
      ASSERT_TRUE(b.settle());
      for (unsigned* percent : {&b.rx.percent, &b.wr.percent, &b.tr.percent, &b.answer_percent})
        *percent = b.d.chance(50) ? 100 : unsigned(20 + b.d.below(80));
    }
    const unsigned which = unsigned(b.d.below(nodes));
    const auto node = uint16_t((b.nodes > 64 ? 64 : 1) * which);  // differ where a NIC of 64 nodes does not look
    const unsigned place = unsigned(b.d.below(places));
    get& g = under_way[which][place];
    if (g.left == 0 && !g.begun)
      g = {.vpid = uint8_t(3 + b.d.below(2)), .left = unsigned(1 + b.d.below(5)), .what = b.d.chance(80) ? 4u : 0u};
    if (g.left) {
      const bool bad = b.d.chance(10);
      packet p = b.data(g.vpid, bad ? forbidden : uint64_t{b.area(g.vpid)} << 16 | b.d.below(0x8000),
                        unsigned(1 + b.d.below(64)));
      b.send(b.of(p, node, place, g.what, g.begun ? 0 : nic::rma_first));
      g.refused |= bad;
      g.begun = true;
      --g.left;
    } else {
      b.send(b.of(b.make(op::rma_get_done, g.vpid), node, place, g.what));
      EXPECT_EQ(b.last_status(), uint8_t(g.refused ? net_status::protection : net_status::ok));
      ++(g.refused ? refused : good);
      g = {};
    }
    while (b.backlog()) b.step();
  }
  ASSERT_TRUE(b.settle());
  EXPECT_GT(refused, 200u);
  EXPECT_GT(good, 500u);
}

// The requester may end an epoch while no write of its context is pending; after that none of its data is written. The
// address of data identifies the epoch in which it was sent.
TYPED_TEST(Answer, NothingOfAnEpochThatIsOverIsWritten) {
  auto& b = this->b;
  uint64_t written = 0;
  b.on_write = [&](const tlp& t) {
    ++written;
    const uint64_t nla = (t.addr & 0xffff'ffff) - 0x10'0000;
    EXPECT_EQ(nla >> 12 & 15, b.contexts[nla >> 16].gave_up % 16u) << "late, cycle " << b.now;
  };
  for (uint8_t vpid = 0; vpid < 4; ++vpid) b.start(vpid);
  unsigned over = 0, held = 0;
  for (unsigned n = 0; n < 60000; ++n) {
    if (n % 500 == 0)
      for (unsigned* percent : {&b.rx.percent, &b.wr.percent, &b.tr.percent, &b.answer_percent})
        *percent = b.d.chance(40) ? 100 : unsigned(5 + b.d.below(95));
    if (b.rx.backlog() < 30) {
      const auto vpid = uint8_t(b.d.below(4));
      const uint64_t nla =
          uint64_t{vpid} << 16 | uint64_t(b.contexts[vpid].gave_up % 16) << 12 | (b.d.below(0xc00) & ~15ull);
      b.send(b.d.chance(70) ? b.data(vpid, nla, unsigned(1 + b.d.below(256))) : b.result(vpid, nla));
    }
    const auto vpid = uint8_t(b.d.below(4));
    if (b.d.chance(5)) {
      const bool writes = b.writes(vpid);
      b.step();
      if (!writes) b.give_up(vpid);
      ++(writes ? held : over);
    } else {
      b.step();
    }
  }
  for (unsigned n = 0; n < 5000; ++n) b.step();
  for (unsigned vpid = 0; vpid < 256; ++vpid) EXPECT_FALSE(b.writes(uint8_t(vpid)));
  EXPECT_GT(over, 500u);
  EXPECT_GT(held, 300u);
  EXPECT_GT(written, 1000u);
}

TYPED_TEST(Answer, EveryContext) {
  auto& b = this->b;
  for (unsigned round = 0; round < 2; ++round) {
    for (unsigned i = 0; i < 256; ++i) b.start(uint8_t(i));
    for (unsigned i = 0; i < 256; ++i) {
      b.send(b.data(uint8_t(i), uint64_t{b.area(uint8_t(i))} << 16 | i << 4, 8));
      b.send(b.data(uint8_t(i), forbidden, 8));
    }
    ASSERT_TRUE(b.settle());
    for (unsigned i = 0; i < 256; ++i) b.send(b.make(op::rma_get_done, uint8_t(i)));
    ASSERT_TRUE(b.settle());
    for (unsigned i = 0; i < 256; ++i) b.give_up(uint8_t(i));
    for (unsigned i = 0; i < 256; ++i) b.start(uint8_t(i), false);
    b.send(b.data(uint8_t(b.d.bits()), 0, 8));
    ASSERT_TRUE(b.settle());
  }
}

TYPED_TEST(Answer, RandomAndForgedPackets) {
  auto& b = this->b;
  for (unsigned i = 0; i < 6; ++i) b.start(uint8_t(i * 40));
  constexpr op ops[] = {op::rma_get_data, op::rma_get_data, op::rma_get_data,
                        op::rma_get_done, op::rma_ack,      op::rma_atomic_rsp};
  for (unsigned n = 0; n < 12000; ++n) {
    if (n % 300 == 0) {
      ASSERT_TRUE(b.settle());
      for (unsigned* percent : {&b.rx.percent, &b.wr.percent, &b.tr.percent, &b.answer_percent})
        *percent = b.d.chance(50) ? 100 : unsigned(20 + b.d.below(80));
      b.v.cfg_mps_i = b.d.chance(50) ? 128 : 256;
      b.gate = b.d.chance(50);
      if (b.d.chance(50)) b.give_up(uint8_t(40 * b.d.below(6)));
      if (b.d.chance(30)) b.start(uint8_t(40 * b.d.below(6)), b.d.chance(70));
    }
    const auto vpid = uint8_t(40 * b.d.below(6));
    const uint64_t nla = (uint64_t{b.area(vpid)} << 16) + b.d.below(b.d.chance(95) ? 0x10000 : 0x200000);
    const op o = ops[b.d.below(6)];
    packet p = o == op::rma_get_data ? b.data(vpid, nla, unsigned(1 + b.d.below(b.d.chance(50) ? 16 : 256)))
               : o == op::rma_atomic_rsp
                   ? b.result(vpid, nla & ~15ull, b.d.chance(80) ? net_status::ok : net_status::timeout)
                   : b.make(o, vpid, b.d.chance(80) ? net_status::ok : net_status(b.d.below(11)));
    if (b.d.chance(30) && o == op::rma_atomic_rsp) p.set_flags(0);
    if (o == op::rma_get_data || o == op::rma_get_done)  // of gets that are met again
      p = b.of(p, uint16_t(b.d.below(2)), unsigned(b.d.below(4)), 4, b.d.chance(30) ? nic::rma_first : 0);
    if (b.d.chance(10)) {  // forged
      switch (b.d.below(6)) {
        case 0:
          p.addr = b.d.bits();
          break;
        case 1:
          p.first_be = uint8_t(b.d.below(16)), p.last_be = uint8_t(b.d.below(16));
          break;
        case 2:
          p.op = uint8_t(b.d.bits());
          break;
        case 3:
          p.set_initiator(uint8_t(b.d.bits()), uint8_t(b.d.bits()));
          break;
        case 4:
          p.data.resize(size_t(b.d.below(b.d.chance(80) ? 24 : 90)));
          p.len_dw = uint16_t(p.data.size());
          break;
        default:
          nic::packet_header h;
          for (auto& dw : h) dw = uint32_t(b.d.bits());
          p.set_header(h);
          p.len_dw = uint16_t(p.data.size());
      }
    }
    b.send(p);
    while (b.backlog()) b.step();
    if (testing::Test::HasFailure()) FAIL() << "packet " << n << ": " << nic::to_text(p);
  }
  ASSERT_TRUE(b.settle());
  EXPECT_GT(b.get_packets, 3000u);
}

TYPED_TEST(Answer, Timing) {
  auto& b = this->b;
  b.start(1);
  b.send(b.data(1, 0x10000, 256));
  const uint64_t start = b.now;
  while (!b.wr.accepted) b.step();
  std::printf("data in to write out: %llu cycles\n", (unsigned long long)(b.now - 1 - start));
  EXPECT_LE(b.now - 1 - start, 5u);
  ASSERT_TRUE(b.settle());
  constexpr unsigned n = 200;
  const uint64_t from = b.now;
  for (unsigned i = 0; i < n; ++i) b.send(b.data(1, 0x12000, 256));
  ASSERT_TRUE(b.settle());
  const double each = double(b.now - from) / n, beats = 2048.0 / b.width;
  std::printf("256 bytes: %.2f cycles a packet, %.0f beats\n", each, beats);
  EXPECT_LE(each, beats * 1.05);
}

}  // namespace
}  // namespace ggas::test::rma
