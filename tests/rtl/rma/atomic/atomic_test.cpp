// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "Vatomic_256.h"
#include "Vatomic_512.h"
#include "Vatomic_64.h"
#include "tests/rtl/rma/atomic/bench.hpp"

namespace ggas::test::rma {
namespace {

constexpr uint8_t ok = 0, host_error = uint8_t(net_status::host_error), timeout = uint8_t(net_status::timeout),
                  protection = uint8_t(net_status::protection), disabled = uint8_t(net_status::disabled),
                  bad = uint8_t(net_status::bad);

template <class T>
class Atomic : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
  void TearDown() override { EXPECT_EQ(b.tr.held, 0u) << "translations that were not given back"; }
  uint64_t value(uint64_t nla, unsigned bytes) const {
    return bytes == 8 ? b.mem.qword(T::bus(nla)) : b.mem.word(T::bus(nla));
  }
  void set(uint64_t nla, uint64_t v) {
    b.mem.set(T::bus(nla), uint32_t(v));
    b.mem.set(T::bus(nla) + 4, uint32_t(v >> 32));
  }
  // A value near the interesting places.
  uint64_t number() {
    const uint64_t edges[] = {0, 1, ~0ull, 1ull << 31, 1ull << 32, 1ull << 63, (1ull << 31) - 1, (1ull << 63) - 1};
    return edges[b.d.below(8)] + (b.d.chance(50) ? b.d.below(3) - 1 : b.d.chance(30) ? b.d.bits() : 0);
  }
};
using widths =
    testing::Types<atomic_bench<Vatomic_64, 64>, atomic_bench<Vatomic_256, 256>, atomic_bench<Vatomic_512, 512>>;
TYPED_TEST_SUITE(Atomic, widths);

TYPED_TEST(Atomic, EveryOperationInBothWidths) {
  auto& b = this->b;
  for (unsigned n = 0; n < 2000; ++n) {
    operation o{.nla = 0x1000 + 8 * b.d.below(4),
                .operand = this->number(),
                .compare = this->number(),
                .result = b.d.chance(50) ? b.d.bits() & ~15ull : 0};
    o.amo = n % 8, o.is_signed = n / 8 % 2, o.bytes = n / 16 % 2 ? 4 : 8;
    if (o.bytes == 4) o.nla += 4 * b.d.below(2);
    const uint64_t before = this->number(), beside = b.mem.word(TypeParam::bus(o.nla ^ 4));
    if (o.bytes == 8)
      this->set(o.nla, before);
    else
      b.mem.set(TypeParam::bus(o.nla), uint32_t(before));
    if (b.d.chance(50)) o.compare = before;
    const uint64_t old = this->value(o.nla, o.bytes);
    const done r = b.one(b.make(o));
    EXPECT_EQ(r.status, ok);
    EXPECT_EQ(r.old, old);
    EXPECT_EQ(this->value(o.nla, o.bytes), nic::amo_result(r.request.data[8], o.bytes, old, o.operand, o.compare))
        << "op " << o.amo << " signed " << o.is_signed << " bytes " << o.bytes;
    EXPECT_TRUE(o.bytes == 8 || b.mem.word(TypeParam::bus(o.nla ^ 4)) == beside);
  }
  EXPECT_EQ(b.atomics, 2000u);
}

// The thing that must hold: fetch-adds from everywhere, with stalls; nothing lost, nothing twice.
TYPED_TEST(Atomic, HundredThousandFetchAdds) {
  auto& b = this->b;
  constexpr unsigned total = 100000;
  std::set<uint64_t> olds;
  b.on_done = [&](const done& r) {
    EXPECT_EQ(r.status, ok);
    EXPECT_TRUE(olds.insert(r.old).second) << r.old << " came twice";
  };
  for (unsigned sent = 0; sent < total;) {
    if (b.now % 4096 == 0) {  // another mood
      b.wr.percent = unsigned(30 + b.d.below(71));
      b.rd.percent = unsigned(30 + b.d.below(71));
      b.rsp.percent = unsigned(30 + b.d.below(71));
      b.host.percent = unsigned(5 + b.d.below(96));
      b.at.percent = unsigned(30 + b.d.below(71));
      b.tr.percent = b.d.chance(50) ? 100 : 40;
    }
    if (b.waiting() < 20) b.send({.nla = 0x8000, .operand = 1, .src = uint16_t(b.d.below(64))}), ++sent;
    b.snoop = b.d.chance(2);
    b.step();
    if (b.finished.size() > 1000) b.finished.clear();
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(olds.size(), total);
  EXPECT_EQ(*olds.rbegin(), total - 1);
  EXPECT_EQ(this->value(0x8000, 8), total);
  std::printf("%llu cycles, %llu reads for %u operations\n", (unsigned long long)b.now,
              (unsigned long long)b.host.reads, total);
  EXPECT_LT(b.host.reads, total / 2);
}

// Random operations on a few words, also on halves of them. Some are refused, some have failing reads. Sometimes a put
// goes to a word without a pending operation.
TYPED_TEST(Atomic, RandomOperationsAgreeWithModel) {
  auto& b = this->b;
  memory model;
  std::map<uint64_t, unsigned> busy;  // operations under way by word
  uint64_t failed = 0, refused = 0, done_count = 0;
  b.host.status = [&](const tlp&) { return b.d.chance(3) ? pcie::cpl_status::ur : pcie::cpl_status::sc; };
  b.on_done = [&](const done& r) {
    const uint64_t nla = r.request.addr, addr = TypeParam::bus(nla);
    const unsigned bytes = r.request.data[8] >> 31 ? 8 : 4;
    --busy[nla / 8];
    if (r.status != ok) {
      EXPECT_EQ(r.status, nla >= 0x100000 ? protection : host_error);
      EXPECT_EQ(r.old, 0u);
      ++(r.status == protection ? refused : failed);
      return;
    }
    ++done_count;
    const uint64_t old = bytes == 8 ? model.qword(addr) : model.word(addr);
    EXPECT_EQ(r.old, old);
    const uint64_t next =
        nic::amo_result(r.request.data[8], bytes, old, qword(r.request.data, 0), qword(r.request.data, 1));
    model.set(addr, uint32_t(next));
    if (bytes == 8) model.set(addr + 4, uint32_t(next >> 32));
  };
  for (unsigned n = 0; n < 60000; ++n) {
    if (n % 4096 == 0) {
      b.wr.percent = b.d.chance(50) ? 100 : 40;
      b.rd.percent = b.d.chance(50) ? 100 : 20;
      b.rsp.percent = b.d.chance(50) ? 100 : 40;
      b.host.percent = unsigned(5 + b.d.below(96));
      b.tr.percent = b.d.chance(50) ? 100 : 40;
      b.gate = b.d.chance(50);
    }
    if (b.waiting() < 1 + n / 2048 % 16 && b.d.chance(40)) {
      operation o{
          .nla = 0x2000 + 8 * b.d.below(n / 8192 % 2 ? 2 : 12), .operand = this->number(), .compare = this->number()};
      o.amo = unsigned(b.d.below(8)), o.is_signed = b.d.chance(50), o.bytes = b.d.chance(60) ? 8 : 4;
      if (o.bytes == 4) o.nla += 4 * b.d.below(2);
      if (b.d.chance(2)) o.nla += 0x100000;
      if (b.d.chance(60)) o.compare = b.mem.qword(TypeParam::bus(o.nla));
      ++busy[o.nla / 8];
      b.send(o);
    }
    const uint64_t word = 0x2000 / 8 + b.d.below(12);
    if (b.d.chance(5) && busy[word] == 0) {
      const uint64_t v = b.d.bits();
      this->set(8 * word, v);
      model.set(TypeParam::bus(8 * word), uint32_t(v));
      model.set(TypeParam::bus(8 * word) + 4, uint32_t(v >> 32));
      b.snoop = true;
    }
    b.step();
    if (b.finished.size() > 1000) b.finished.clear();
  }
  ASSERT_TRUE(b.settle());
  for (auto& [addr, w] : model.words()) EXPECT_EQ(b.mem.word(addr), w) << std::hex << addr;
  EXPECT_EQ(b.atomics, done_count);
  EXPECT_EQ(b.protection, refused);
  EXPECT_EQ(b.host_errors, failed);
  EXPECT_GT(refused, 50u);
  EXPECT_GT(failed, 50u);
}

// What was let in may still write, also while it waits for its translation: until then the NIC has not stopped.
TYPED_TEST(Atomic, StopsBehindWhatWasLetIn) {
  auto& b = this->b;
  for (unsigned slow = 0; slow < 4; ++slow) {
    b.tr.percent = slow == 0 ? 0 : 100, b.rd.percent = slow == 1 ? 0 : 100;
    b.host.percent = slow == 2 ? 0 : 100, b.wr.percent = slow == 3 ? 0 : 100;
    b.send({.nla = 0x7200, .operand = 1});
    for (unsigned i = 0; i < 300; ++i) b.step();
    EXPECT_TRUE(b.v.writes_o) << slow;
    b.tr.percent = b.rd.percent = b.host.percent = b.wr.percent = 100;
    ASSERT_TRUE(b.settle());
    EXPECT_FALSE(b.v.writes_o);
  }
}

// A put is accepted at the latest in the cycle in which an operation would take over the value of the preceding one.
// Then the operation must read. A read begins two cycles after that cycle.
TYPED_TEST(Atomic, PutInTheCycleOfTheHandOver) {
  auto& b = this->b;
  b.host.percent = 100;
  const auto take = [&](uint64_t nla) {
    const uint64_t before = b.at.taken;
    b.send({.nla = nla, .operand = 1});
    while (b.at.taken == before) b.step();
    return b.now - 1;
  };
  const uint64_t taken = take(0x7000), before = b.host.reads;
  while (b.host.reads == before) b.step();
  const uint64_t chosen = b.now - 1 - taken - 2;  // after the packet's last beat: from the hand, or to be read
  ASSERT_TRUE(b.settle());
  for (unsigned gap = 0; gap < chosen + 6; ++gap) {
    b.send({.nla = 0x7100, .operand = 1});
    while (b.waiting()) b.step();
    const uint64_t reads = b.host.reads, from = take(0x7100);
    for (unsigned i = 0; i < gap; ++i) b.step();
    this->set(0x7100, 1000);
    b.snoop = true;
    const uint64_t put = b.now;
    while (b.waiting()) b.step();
    EXPECT_EQ(b.host.reads == reads, put > from + chosen) << "gap " << gap << " chosen " << chosen;
    ASSERT_TRUE(b.settle());
  }
}

// A put that was accepted in front of an operation is seen by it, whatever the unit still has in progress of the word.
TYPED_TEST(Atomic, PutIsSeenByTheOperationsBehindIt) {
  auto& b = this->b;
  b.host.percent = 100;
  uint64_t reads = 0;
  for (unsigned gap = 0; gap < 60; ++gap) {
    b.send({.nla = 0x6000, .operand = 1});
    while (b.waiting()) b.step();
    this->set(0x6000, 1000 * gap);
    b.snoop = true;
    for (unsigned i = 0; i < gap; ++i) b.step();
    b.send({.nla = 0x6000, .operand = 5});
    while (b.waiting()) b.step();
    EXPECT_EQ(b.finished.back().old, 1000 * gap) << "gap " << gap;
    reads = b.host.reads;
  }
  EXPECT_EQ(reads, 120u - 59);  // the first of a round finds the value that the round before left
  ASSERT_TRUE(b.settle());
  // The put comes while a compare that will not match has read the word: it writes nothing, and what it read is old.
  for (bool put : {true, false}) {
    this->set(0x6100, 7);
    b.host.percent = 0;
    b.send({.nla = 0x6100, .operand = 1, .compare = 8, .amo = 2});
    const uint64_t before = b.host.reads;
    while (b.host.reads == before) b.step();
    if (put) this->set(0x6100, 77);
    b.snoop = put;
    b.step();
    b.send({.nla = 0x6100, .operand = 1});
    for (unsigned i = 0; i < 40; ++i) b.step();
    b.host.percent = 100;
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.finished.back().old, put ? 77u : 7u);
    EXPECT_EQ(b.host.reads, before + (put ? 2 : 1));
  }
}

TYPED_TEST(Atomic, MalformedPacketsAreAnswered) {
  auto& b = this->b;
  auto expect = [&](const packet& p, uint8_t status, uint64_t info) {
    const uint64_t before = b.bad + b.protection;
    const done r = b.one(p);
    EXPECT_EQ(r.status, status);
    EXPECT_EQ(b.bad + b.protection, before + 1);
    EXPECT_EQ(b.last_info, info);
    EXPECT_EQ(b.last_node, p.src);
  };
  const operation good{.nla = 0x3000, .operand = 1, .src = 33};
  for (unsigned bit : {5u, 17u, 30u}) {
    packet p = b.make(good);
    p.data[8] |= 1u << bit;
    expect(p, bad, uint8_t(op::rma_atomic));
  }
  packet p = b.make(good);
  p.data[8] |= 8;
  expect(p, bad, uint8_t(op::rma_atomic));
  for (unsigned offset : {1u, 2u, 3u, 4u, 7u}) {
    p = b.make(good);
    p.addr += offset;
    expect(p, bad, uint8_t(op::rma_atomic));
  }
  p = b.make(good);
  p.addr |= 1ull << 50;
  expect(p, protection, p.addr & 0xff'ffff'ffff);
  p = b.make(good);
  p.set_pd(6);
  expect(p, protection, 0x3000);
  // What the target refused is answered without another event.
  const uint64_t events = b.bad + b.protection;
  b.refuse = true;
  EXPECT_EQ(b.one(b.make(good)).status, disabled);
  b.refuse = false;
  EXPECT_EQ(b.bad + b.protection, events);
  EXPECT_EQ(b.host.reads, 0u);
  EXPECT_EQ(b.atomics, 0u);
  EXPECT_EQ(b.one(b.make(good)).status, ok);
}

TYPED_TEST(Atomic, GarbageEndsAndIsAnsweredOnce) {
  auto& b = this->b;
  for (unsigned n = 0; n < 5000; ++n) {
    packet p =
        b.make({.nla = b.d.bits(), .operand = b.d.bits(), .src = uint16_t(b.d.bits()), .pd = uint16_t(b.d.bits())});
    if (b.d.chance(30)) p.addr &= 0xfffff;
    if (b.d.chance(30)) p.data[8] = uint32_t(b.d.bits());
    p.data.resize(b.d.chance(70) ? 10 : size_t(b.d.below(65)));
    p.len_dw = uint16_t(p.data.size());
    b.send(p);
    while (b.waiting() > 12) b.step();
  }
  EXPECT_TRUE(b.settle());
  EXPECT_EQ(b.atomics, 0u);  // the domain never fits
  EXPECT_EQ(b.host.reads, 0u);
}

TYPED_TEST(Atomic, LostReadEndsInATimeOutAndTheWordGoesOn) {
  auto& b = this->b;
  this->set(0x4000, 10);
  unsigned lost = 2;
  b.host.silent = [&](const tlp&) { return lost && lost--; };
  for (unsigned i = 0; i < 4; ++i) b.send({.nla = 0x4000, .operand = 1});
  ASSERT_TRUE(b.settle());
  std::vector<uint8_t> status;
  for (const done& r : b.finished) status.push_back(r.status);
  EXPECT_EQ(status, (std::vector<uint8_t>{timeout, timeout, ok, ok}));
  EXPECT_EQ(b.host_errors, 2u);
  EXPECT_EQ(b.last_info, TypeParam::bus(0x4000) & 0xff'ffff'ffff);
  EXPECT_EQ(this->value(0x4000, 8), 12u);
}

// Latency of one operation without the host's part, and the distance of operations on one word.
TYPED_TEST(Atomic, Timing) {
  auto& b = this->b;
  b.host.percent = 100;
  b.send({.nla = 0x5000, .operand = 1});
  const uint64_t start = b.now;
  uint64_t asked = 0, answered = 0, back = 0;
  while (!answered) {
    b.step();
    if (!asked && b.host.reads) asked = b.now;
    if (asked && !back && !b.host.cpl.empty()) back = b.now;
    if (b.rsp.accepted) answered = b.now;
  }
  std::printf("packet in to read out %llu cycles, completion to answer %llu\n", (unsigned long long)(asked - start),
              (unsigned long long)(answered - asked));
  EXPECT_LE(asked - start, 12u);
  EXPECT_LE(answered - asked, 10u);
  b.settle();
  b.host.percent = 2;  // a slow host: 50 cycles and more a read
  const uint64_t reads = b.host.reads, from = b.now;
  for (unsigned i = 0; i < 500; ++i) b.send({.nla = 0x5000, .operand = 1});
  ASSERT_TRUE(b.settle());
  const double each = double(b.now - from) / 500;
  std::printf("%.2f cycles an operation on one word, %llu reads\n", each, (unsigned long long)(b.host.reads - reads));
  EXPECT_LE(each, 9.0);
  EXPECT_LE(b.host.reads - reads, 2u);
}

}  // namespace
}  // namespace ggas::test::rma
