// SPDX-License-Identifier: Apache-2.0
// Notification rings: a software reader per context follows the phase bits and must see every record, in order, exactly
// once.
#include "tests/rtl/rma/notify/bench.hpp"

namespace ggas::test::rma {
namespace {

template <class T>
class Notify : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
  request make(uint8_t vpid, uint64_t w0) {
    request r{.vpid = vpid, .w0 = w0, .w1 = {}};
    r.w1.kind = note_kind(b.d.below(4));
    r.w1.status = uint8_t(b.d.below(16));
    r.w1.op = uint8_t(b.d.bits());
    r.w1.vpid = uint8_t(b.d.bits());
    r.w1.node = uint16_t(b.d.bits());
    r.w1.size = uint32_t(b.d.bits() & 0xffffff);
    r.w1.phase = b.d.chance(50);  // to be ignored
    return r;
  }
  ring plain(uint64_t base) { return {.enabled = true, .pd = 7, .base = base}; }
};
using widths = testing::Types<bench<Vnotify_64, 64>, bench<Vnotify_512, 512>>;
TYPED_TEST_SUITE(Notify, widths);

constexpr uint8_t ok = 0, full = uint8_t(net_status::full), lost = uint8_t(net_status::lost),
                  disabled = uint8_t(net_status::disabled);

TYPED_TEST(Notify, OnlyAnEnabledContextWithARingOfTheDomainIsWritten) {
  auto& b = this->b;
  EXPECT_EQ(b.one(0, this->make(3, 1)), disabled);
  ring r = this->plain(0x7000);
  b.start(3, r);
  request q = this->make(3, 2);
  q.check = true, q.pd = 8;
  EXPECT_EQ(b.one(1, q), disabled);
  q.pd = 7;
  EXPECT_EQ(b.one(1, q), ok);
  q.check = false, q.pd = 8;
  EXPECT_EQ(b.one(2, q), ok);
  r.base = 0;
  b.start(4, r);
  EXPECT_EQ(b.one(0, this->make(4, 1)), disabled);
  r.base = 0x9000;
  for (unsigned log2 : {0u, 3u, 17u, 31u}) {
    r.log2 = log2;
    b.start(4, r);
    EXPECT_EQ(b.one(0, this->make(4, 1)), disabled) << log2;
  }
  r.log2 = 16, r.enabled = false;
  b.start(4, r);
  EXPECT_EQ(b.one(0, this->make(4, 1)), disabled);
  EXPECT_EQ(b.wr.all.size(), 2u);
  EXPECT_EQ(b.records, 2u);
}

TYPED_TEST(Notify, FullRingHoldsBackOrDropsAndTells) {
  auto& b = this->b;
  for (bool backpressure : {true, false}) {
    ring r = this->plain(0x10000);
    r.backpressure = backpressure;
    b.start(9, r);
    b.lost_events.clear();
    b.mem = {};
    reader software(b.mem, r);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(b.one(i % 3, this->make(9, i)), ok);
    EXPECT_EQ(b.one(0, this->make(9, 100)), backpressure ? full : lost);
    EXPECT_EQ(b.lost_events.size(), backpressure ? 0u : 1u);
    request dropped = this->make(9, 101);
    dropped.drop = true;
    EXPECT_EQ(b.one(2, dropped), lost);
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(software.next()->first, i);
    EXPECT_FALSE(software.next());
    // One record free is not enough for the one that reports and the one after it.
    b.doorbells.push_back({9, 1});
    EXPECT_EQ(b.one(0, this->make(9, 102)), backpressure ? full : lost);
    b.doorbells.push_back({9, software.count()});
    b.settle();
    EXPECT_EQ(b.one(1, this->make(9, 103)), ok);
    const auto tell = software.next();
    ASSERT_TRUE(tell);
    EXPECT_EQ(tell->second.kind, note_kind::lost);
    EXPECT_EQ(tell->first, backpressure ? 1u : 3u);
    EXPECT_EQ(software.next()->first, 103u);
    EXPECT_FALSE(software.next());
    EXPECT_EQ(b.lost_events, std::vector<uint8_t>(backpressure ? 1 : 3, 9));
  }
  EXPECT_EQ(b.met_full, 6u);
}

TYPED_TEST(Notify, StartForgetsEverything) {
  auto& b = this->b;
  ring r = this->plain(0x20000);
  b.start(255, r);
  for (unsigned i = 0; i < 18; ++i) b.one(0, this->make(255, i));
  b.doorbells.push_back({255, 16});
  b.settle();
  b.mem = {};
  b.start(255, r);
  reader software(b.mem, r);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(b.one(0, this->make(255, 50 + i)), ok);
  EXPECT_EQ(b.one(0, this->make(255, 1)), lost);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(software.next()->first, 50 + i);
}

TYPED_TEST(Notify, EveryContextHasARingOfItsOwn) {
  auto& b = this->b;
  std::map<unsigned, ring> rings;
  for (unsigned i = 0; i < 256; ++i) {
    rings[i] = {.enabled = true,
                .backpressure = b.d.chance(50),
                .irq = b.d.chance(50),
                .vector = unsigned(b.d.below(16)),
                .log2 = unsigned(4 + b.d.below(13)),
                .pd = uint16_t(b.d.bits()),
                .base = b.d.bits() << 12};
    b.start(i, rings[i]);
  }
  for (unsigned turn = 0; turn < 2; ++turn) {
    for (unsigned i = 0; i < 256; ++i) {
      request q = this->make(uint8_t(i), b.d.bits());
      q.check = true, q.pd = rings[i].pd;
      EXPECT_EQ(b.one(i % 3, q), ok);
      EXPECT_EQ(b.wr.all.back().addr, rings[i].base + 16 * turn);
      EXPECT_EQ(qword(b.wr.all.back().data, 0), q.w0);
      b.doorbells.push_back({i, turn + 1});
    }
  }
  for (unsigned i = 0; i < 256; ++i) {
    // A reader that claims more than there is harms only itself.
    b.doorbells.push_back({i, b.d.bits()});
    rings[i].enabled = false;
    b.start(i, rings[i]);
    EXPECT_EQ(b.one(0, this->make(uint8_t(i), 0)), disabled);
  }
}

// A context has stopped when its record was written and reported, and no sooner.
TYPED_TEST(Notify, StopsBehindTheReport) {
  auto& b = this->b;
  ring r = this->plain(0x50000);
  r.irq = true;
  b.start(21, r);
  for (unsigned slow : {0u, 1u}) {  // the host, or who is informed
    b.wr.percent = slow ? 100 : 0, b.tell_percent = slow ? 0 : 100;
    b.todo[0].push_back(this->make(21, slow));
    for (unsigned i = 0; i < 200; ++i) b.step();
    EXPECT_EQ(b.records, slow ? 2u : 0u);
    EXPECT_TRUE(b.looks_busy(21));
    EXPECT_FALSE(b.looks_busy(22));
    b.wr.percent = b.tell_percent = 100;
    ASSERT_TRUE(b.settle());
    EXPECT_FALSE(b.looks_busy(21));
    EXPECT_EQ(b.reported[21].second, slow + 1);
  }
}

// A context that is started again while a notification is being written begins at zero all the same.
TYPED_TEST(Notify, StartDuringANotification) {
  auto& b = this->b;
  const ring r = this->plain(0x30000);
  for (unsigned gap = 0; gap < 64; ++gap) {
    b.start(77, r);
    for (unsigned i = 0; i < 5; ++i) b.one(0, this->make(77, i));
    b.todo[0].push_back(this->make(77, 6));
    for (unsigned i = 0; i < gap % 8; ++i) b.step();
    b.start(77, r);
    ASSERT_TRUE(b.settle());
    b.one(0, this->make(77, 7));
    EXPECT_LE(b.wr.all.back().addr, r.base + 16) << "gap " << gap;
  }
}

// A reader for each context with its own speed; one never reads. Nothing is lost, doubled or written elsewhere; the
// others continue.
TYPED_TEST(Notify, RandomTraffic) {
  auto& b = this->b;
  constexpr unsigned contexts = 12, stuck = 5;
  std::vector<ring> rings;
  std::vector<reader> readers;
  for (unsigned i = 0; i < contexts; ++i) {
    rings.push_back({.enabled = true,
                     .backpressure = i % 2 == 0,
                     .irq = i % 3 == 0,
                     .vector = i,
                     .log2 = 4 + i % 3,
                     .pd = uint16_t(100 + i),
                     .base = 0x100000 + 0x10000ull * i});
    b.start(17 * i, rings[i]);
    readers.emplace_back(b.mem, rings[i]);
  }
  std::map<std::pair<unsigned, unsigned>, std::vector<uint64_t>> accepted, came;  // by context and client
  std::array<uint64_t, contexts> written{}, dropped{}, reported{}, seen{};
  uint64_t serial = 0;
  auto drain_answers = [&] {
    for (unsigned c = 0; c < 3; ++c) {
      for (auto& [q, status] : b.answers[c]) {
        const unsigned i = q.vpid / 17;
        const bool off = q.check && q.pd != rings[i].pd;
        EXPECT_EQ(status == disabled, off);
        if (status == ok) accepted[{i, c}].push_back(q.w0), ++written[i];
        if (status == lost) {
          ++dropped[i];
          EXPECT_TRUE(!rings[i].backpressure || q.drop);
        }
        EXPECT_TRUE(status != full || (rings[i].backpressure && !q.drop));
      }
      b.answers[c].clear();
    }
  };
  auto read = [&](unsigned i) {
    while (auto r = readers[i].next()) {
      if (r->second.kind == note_kind::lost) {
        reported[i] += r->first;
        continue;
      }
      came[{i, unsigned(r->first >> 60)}].push_back(r->first);
      EXPECT_EQ(r->second.size, r->first & 0xffffff);
      ++seen[i];
    }
    b.doorbells.push_back({17 * i, readers[i].count()});
  };
  for (unsigned phase = 0; phase < 3; ++phase) {
    b.wr.percent = phase == 0 ? 100 : 40;
    b.gate = phase < 2;
    for (unsigned n = 0; n < 12000; ++n) {
      for (unsigned c = 0; c < 3; ++c) {
        if (b.todo[c].size() > 2) continue;
        request q = this->make(uint8_t(17 * b.d.below(contexts)), uint64_t{c} << 60 | ++serial);
        q.w1.kind = note_kind::completer;
        q.w1.size = uint32_t(serial & 0xffffff);
        q.check = c == 1;
        q.drop = c == 2;
        q.pd = uint16_t(100 + q.vpid / 17 + b.d.chance(3));
        b.todo[c].push_back(q);
      }
      b.step();
      drain_answers();
      const auto i = unsigned(b.d.below(contexts));
      if (i != stuck && b.d.chance(5)) read(i);
    }
  }
  ASSERT_TRUE(b.settle());
  drain_answers();
  for (unsigned i = 0; i < contexts; ++i) {
    if (i == stuck) continue;
    read(i);
    b.settle();
    for (unsigned c = 0; c < 3; ++c)
      EXPECT_EQ((came[{i, c}]), (accepted[{i, c}])) << "context " << i << " client " << c;
    EXPECT_GT(seen[i], 300u);
    b.one(0, this->make(uint8_t(17 * i), 0));
    b.answers[0].clear();
    while (auto r = readers[i].next())
      if (r->second.kind == note_kind::lost) reported[i] += r->first;
    EXPECT_EQ(reported[i], dropped[i]) << "context " << i;
    EXPECT_EQ(b.reported[17 * i].first, rings[i].irq ? written[i] + 1 : 0);
  }
  EXPECT_EQ(written[stuck], 1u << rings[stuck].log2);
  for (auto& [addr, w] : b.mem.words()) {
    const uint64_t i = (addr - 0x100000) / 0x10000;
    EXPECT_LT((addr - 0x100000) % 0x10000, 16u << rings[i].log2);
  }
}

}  // namespace
}  // namespace ggas::test::rma
