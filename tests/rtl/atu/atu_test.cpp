// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "Vatu_256.h"
#include "Vatu_64.h"
#include "tests/rtl/atu/bench.hpp"
#include "tests/rtl/handover.hpp"

namespace ggas::test::atu {
namespace {

template <class V, unsigned W>
struct config {
  using type = bench<V, W>;
};
template <class C>
class Atu : public ::testing::Test {
 protected:
  typename C::type b{seed()};
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }

  // Rights: mostly everything, of domain 7.
  void change(unsigned cls, unsigned index) {
    const uint64_t dice = b.d.below(10);
    b.t.change(b.now, cls, index, dice == 0 ? 6u : dice == 1 ? 3u : dice == 2 ? 5u : 7u, b.d.chance(90) ? 7 : 8);
  }
  void fill() {
    for (unsigned cls = 0; cls < 4; ++cls)
      for (unsigned i = 0; i < counts[cls]; ++i) change(cls, i);
  }
  request any() {
    const auto cls = unsigned(b.d.below(4));
    const auto index = unsigned(b.d.below(counts[cls] + (b.d.chance(3) ? 2 : 0)));
    request r{nla_of(cls, index, b.d.bits()), uint16_t(b.d.chance(95) ? 7 : 8), b.d.chance(50)};
    if (b.d.chance(2)) r.nla |= b.d.bits() << 48;
    return r;
  }
  void requests(unsigned n) {
    for (auto& x : b.c)
      for (unsigned i = 0; i < n; ++i) x.todo.push_back(any());
  }
};
using widths = ::testing::Types<config<Vatu_64, 64>, config<Vatu_256, 256>>;
TYPED_TEST_SUITE(Atu, widths);

TYPED_TEST(Atu, Translations) {
  auto& b = this->b;
  this->fill();
  b.host.percent = 30;
  for (auto& x : b.c) x.hold = 20;
  this->requests(600);
  ASSERT_TRUE(b.settle());
  for (const auto& x : b.c) EXPECT_GT(x.good, x.answered / 3);
  EXPECT_GT(b.hits, 100u);
  EXPECT_GT(b.misses, 50u);
  EXPECT_GT(b.walks_failed, 5u);  // outside of a table
}

// The driver changes entries and invalidates them, page by page or all, often several at once, while all clients go on.
TYPED_TEST(Atu, NoUseOfWhatWasInvalidated) {
  auto& b = this->b;
  this->fill();
  for (unsigned round = 0; round < 4; ++round) {
    b.gate = round != 3;
    b.host.percent = round == 0 ? 100 : 10;
    b.host.delay = round * 20;
    for (auto& x : b.c) x.hold = round == 1 ? 5 : 150, x.percent = round == 2 ? 30 : 100;
    for (unsigned i = 0; i < 3000; ++i) {
      for (auto& x : b.c)
        if (x.todo.empty()) x.todo.push_back(this->any());
      if (b.d.chance(4)) {
        const auto cls = unsigned(b.d.below(4)), index = unsigned(b.d.below(counts[cls]));
        if (b.d.chance(20))
          b.t.change(b.now, cls, index, 6, 7);  // taken away
        else
          this->change(cls, index);
        const auto last = std::min<unsigned>(index + unsigned(b.d.below(8)), counts[cls] - 1);
        if (b.d.chance(30))
          b.invalidate(false, nla_of(cls, unsigned(b.d.below(index + 1)), b.d.bits()), nla_of(cls, last, b.d.bits()));
        else if (b.d.chance(60))
          b.invalidate(b.d.chance(20), nla_of(cls, index, b.d.bits()));
        else if (b.d.chance(10))
          b.invalidate(false, nla_of(cls, index, 0), nla_of((cls + 1) % 4, 0, 0));  // two classes: everything
      }
      b.step();
    }
    ASSERT_TRUE(b.settle());
  }
  EXPECT_LT(b.longest, 3000u);
  std::printf("longest invalidation: %llu cycles\n", static_cast<unsigned long long>(b.longest));
}

// Pages go from owner to owner in the middle of translations: after the invalidation no client gets an old address.
TYPED_TEST(Atu, NothingIsLeft) {
  for (unsigned turn = 0; turn < 6; ++turn)
    expect_nothing_left([&](uint64_t secret) {
      const auto own = std::make_unique<typename TypeParam::type>(seed() + turn);
      auto& b = *own;
      b.host.percent = 30;
      two_owners seen;
      for (view* now : {&seen.former, &seen.next}) {
        b.t.salt = now == &seen.former ? secret & 0xfff : 0;
        for (unsigned cls = 0; cls < 4; ++cls)
          for (unsigned i = 0; i < counts[cls]; ++i) b.t.change(b.now, cls, i, b.d.chance(80) ? 7 : 0, 7);
        b.invalidate(true, 0);
        while (b.invalidations_open()) b.step();
        for (auto& x : b.c)
          for (unsigned i = 0; i < 200; ++i) {
            const auto cls = unsigned(b.d.below(4));
            x.todo.push_back({nla_of(cls, unsigned(b.d.below(counts[cls])), b.d.bits()), 7, b.d.chance(50)});
          }
        for (unsigned n = now == &seen.former ? 300 + unsigned(b.d.below(2000)) : 4000; n; --n) {
          b.step();
          now->see(b.v.tr_rsp_valid_o, b.v.tr_rsp_status_o);
          now->see(b.v.tr_rsp_valid_o && b.v.tr_rsp_status_o == 0, b.v.tr_rsp_addr_o);
          now->see(b.v.rd_valid_o, b.v.rd_hdr_o);
        }
        for (auto& x : b.c) x.todo.clear();
      }
      return seen;
    });
}

// Walks, fills, drops and hits of two pages meet in every way.
TYPED_TEST(Atu, OnePageAgainAndAgain) {
  auto& b = this->b;
  this->fill();
  b.host.percent = 100;
  for (auto& x : b.c) x.percent = 60, x.hold = 3;
  for (unsigned i = 0; i < 12'000; ++i) {
    b.host.delay = b.d.below(4);
    for (auto& x : b.c)
      if (x.todo.empty()) x.todo.push_back({nla_of(0, 3 + unsigned(b.d.below(2)), b.d.bits()), 7, false});
    if (b.invalidations_open() == 0 && b.d.chance(50)) {
      const unsigned index = 3 + unsigned(b.d.below(2));
      b.t.change(b.now, 0, index, 7, 7);
      const bool range = b.d.chance(30);
      b.invalidate(b.d.chance(10), nla_of(0, index, 0),
                   range ? std::optional{nla_of(0, index + unsigned(b.d.below(2)), 0)} : std::nullopt);
    }
    b.step();
  }
  ASSERT_TRUE(b.settle());
}

// An invalidation ends although a client always has translations in use.
TYPED_TEST(Atu, InvalidationEndsUnderLoad) {
  auto& b = this->b;
  this->fill();
  b.host.percent = 100;
  for (auto& x : b.c) x.hold = 40;
  for (unsigned i = 0; i < 200; ++i) {
    for (auto& x : b.c)
      while (x.todo.size() < 4) x.todo.push_back({nla_of(1, 1, b.d.bits()), 7, false});
    if (i == 100) b.invalidate(true, 0);
    b.step();
  }
  EXPECT_EQ(b.invalidations_open(), 0u);
  EXPECT_LE(b.longest, 90u);
  ASSERT_TRUE(b.settle());
}

// A stopped NIC writes nothing: the acknowledgement is in the register, and the next one in memory stands for both.
TYPED_TEST(Atu, NoAcknowledgementIsWrittenInAStop) {
  auto& b = this->b;
  this->fill();
  this->requests(20);
  ASSERT_TRUE(b.settle());
  for (unsigned round = 0; round < 4; ++round) {
    const unsigned writes = b.writes;
    b.v.stop_i = 1;
    for (unsigned i = 0; i < 1 + round; ++i) {
      b.invalidate(true, 0);
      for (unsigned k = 0; k < 400; ++k) b.step();
    }
    EXPECT_EQ(b.invalidations_open(), 0u);
    EXPECT_FALSE(b.v.busy_o);
    EXPECT_EQ(b.writes, writes);
    b.v.stop_i = 0;
    b.invalidate(true, 0);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.writes, writes + 1);
  }
}

// With nothing else to do, and no register read, the clock runs as long as an invalidation takes.
TYPED_TEST(Atu, InvalidationEndsInAnIdleUnit) {
  auto& b = this->b;
  this->fill();
  b.registers_percent = 0;
  for (unsigned kind = 0; kind < 3; ++kind) {
    this->requests(4);
    ASSERT_TRUE(b.settle());
    b.invalidate(kind == 0, nla_of(1, 2, 0), kind == 2 ? std::optional{nla_of(1, 4, 0)} : std::nullopt);
    for (unsigned i = 0; i < 400; ++i) b.step();
    EXPECT_EQ(b.invalidations_open(), 0u) << kind;
  }
}

TYPED_TEST(Atu, FailedWalks) {
  auto& b = this->b;
  this->fill();
  b.host.percent = 50;
  b.host.late_after = 3000;
  b.faults = [&] {
    switch (b.d.below(12)) {
      case 0:
        return fault::refused;
      case 1:
        return fault::poisoned;
      case 2:
        return fault::too_long;
      case 3:
        return b.d.chance(30) ? fault::silent : fault::late;
      default:
        return fault::none;
    }
  };
  this->requests(120);
  ASSERT_TRUE(b.settle(2'000'000));
  EXPECT_GE(b.walks_failed, b.faulty);
  EXPECT_GT(b.faulty, 10u);
  EXPECT_GT(b.unexpected, 0u);
}

// A table may be longer than its pieces that are there.
TYPED_TEST(Atu, NothingIsReadOfAPieceThatIsNotThere) {
  auto& b = this->b;
  this->fill();
  b.write_piece(first_piece[0] + 1, 0);
  for (unsigned page = 0; page < counts[0]; ++page) {
    if (index_of(0, page) < piece_entries) continue;
    b.t.change(b.now, 0, page, 0, 7);
    b.c[page % 5].todo.push_back({nla_of(0, page, 0), 7, false});
  }
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.host.reads, 0u);
  EXPECT_GT(b.walks_failed, 2u);
}

TYPED_TEST(Atu, HitTakesTwoCyclesAlsoUnderAMiss) {
  auto& b = this->b;
  for (unsigned cls = 0; cls < 4; ++cls) b.t.change(0, cls, 1, 7, 7);
  b.host.percent = 100;
  b.c[2].todo.push_back({nla_of(0, 1, 0x123), 7, true});
  ASSERT_TRUE(b.settle());
  EXPECT_GT(b.c[2].latency, 2u);
  b.host.delay = 400;
  b.c[0].todo.push_back({nla_of(2, 1, 0x5000), 7, false});
  b.c[1].todo.push_back({nla_of(3, 1, 0x5000), 7, false});
  for (unsigned i = 0; i < 20; ++i) b.c[2].todo.push_back({nla_of(0, 1, 8 * i), 7, false});
  for (unsigned i = 0; i < 100; ++i) {
    b.step();
    if (b.c[2].answered > 1) {
      EXPECT_EQ(b.c[2].latency, 2u);
    }
  }
  EXPECT_EQ(b.c[2].answered, 21u);
  EXPECT_EQ(b.c[0].answered + b.c[1].answered, 0u);
  EXPECT_EQ(b.host.open(), 2u) << "two walks at once";
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.c[0].good + b.c[1].good, 2u);
}

// A translation that is filled in takes the place of one other at most.
TYPED_TEST(Atu, TwoPagesOfASetStay) {
  auto& b = this->b;
  constexpr std::array<unsigned, 2> pages{0, 18};
  for (unsigned page : pages) b.t.change(0, 0, page, 7, 7);
  for (unsigned i = 0; i < 20; ++i) {
    b.c[i % 5].todo.push_back({nla_of(0, pages[i % 2], 0), 7, true});
    ASSERT_TRUE(b.settle());
  }
  EXPECT_EQ(b.misses, 2u);
}

// However long the host took no read, the next walk's read comes a fixed time after it takes the first.
TYPED_TEST(Atu, AWalkThatWaitedBeginsAtOnce) {
  auto& b = this->b;
  this->fill();
  b.registers_percent = 0;
  std::set<uint64_t> times;
  for (unsigned wait = 0; wait < 5; ++wait) {
    b.rd_percent = 0;
    for (unsigned i = 0; i < 4; ++i) b.c[i].todo.push_back({nla_of(0, 4 * wait + i, 0), 7, false});
    for (unsigned i = 0; i < 40 + wait; ++i) b.step();
    b.rd_percent = 100;
    const uint64_t from = b.now, reads = b.host.reads;
    while (b.host.reads < reads + 4 && b.now < from + 100) b.step();
    times.insert(b.now - from);
    ASSERT_TRUE(b.settle());
  }
  EXPECT_EQ(times.size(), 1u);
  EXPECT_LE(*times.rbegin(), 12u);
}

// What is outside of its table is refused at once, although late reads hold all tags and the clock stands.
TYPED_TEST(Atu, OutsideIsRefusedWithoutATag) {
  auto& b = this->b;
  constexpr unsigned tags = 8;
  this->fill();
  b.faults = [] { return fault::silent; };
  const auto ask = [&](unsigned clients) {
    for (unsigned i = 0; i < clients; ++i) b.c[i].todo.push_back({nla_of(0, i, 0), 7, false});
  };
  ask(b.clients);
  for (unsigned i = 0; i < 10'000 && b.walks_failed < b.clients; ++i) b.step();
  ask(tags - b.clients);
  for (unsigned i = 0; i < 100; ++i) b.step();
  ASSERT_EQ(b.host.reads, tags);
  b.c[4].todo.push_back({nla_of(1, counts[1], 0), 7, false});
  for (unsigned i = 0; i < 20; ++i) b.step();
  EXPECT_EQ(b.c[4].answered, 2u);
  ASSERT_TRUE(b.settle());
}

TYPED_TEST(Atu, AHitACycle) {
  auto& b = this->b;
  b.t.change(0, 0, 1, 7, 7);
  b.host.percent = 100;
  b.c[0].todo.push_back({nla_of(0, 1, 0), 7, true});
  ASSERT_TRUE(b.settle());
  for (auto& x : b.c)
    for (unsigned i = 0; i < 1000; ++i) x.todo.push_back({nla_of(0, 1, i), 7, true});
  const uint64_t from = b.now, hits = b.hits;
  while (b.hits - hits < 4000) b.step();
  std::printf("%.2f hits a cycle\n", 4000.0 / double(b.now - from));
  EXPECT_LE(b.now - from, 4000 * 10 / 9);
  for (const auto& x : b.c) EXPECT_GT(x.answered, 700u) << "clients take turns";
}

}  // namespace
}  // namespace ggas::test::atu
