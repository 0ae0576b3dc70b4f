// SPDX-License-Identifier: Apache-2.0
// Status blocks: for any counts and any stalls of the host, the last write of a context shows all of them, and no count
// ever decreases.
#include <optional>

#include "Vstatus_512.h"
#include "Vstatus_64.h"
#include "tests/rtl/context_pins.hpp"
#include "tests/rtl/handover.hpp"
#include "tests/rtl/rma/unit/host.hpp"

namespace ggas::test::rma {
namespace {

struct counts {
  uint32_t slots = 0, local = 0, remote = 0, errors = 0;
  auto operator<=>(const counts&) const = default;
};
struct change {
  uint8_t vpid = 0, remote = 0, status = 0;
  bool local = false, error = false;
};

template <class V, unsigned W>
class bench {
 public:
  static constexpr unsigned width = W;
  V v;
  dice d{seed()};
  drain<tlp, W> wr{"wr"};
  memory mem;
  std::array<counts, 256> model{};
  std::array<uint64_t, 256> base{};
  std::deque<change> changes;
  unsigned slot_percent = 0;  // chance a cycle that slots of a random context are consumed
  uint8_t contexts = 255;     // random ones are below
  uint64_t now = 0, writes = 0, backwards = 0;
  bool gate = true;

  bench() {
    v.rst_ni = 0;
    v.eval();  // before the first edge: Verilator sees none in its first evaluation
    edge();
    v.rst_ni = 1;
  }
  ~bench() { end_model(v); }
  void config(uint8_t vpid, unsigned word, uint64_t data) {
    pins::write_context(v.context_i, vpid, word, data);
    step();
    pins::end_write(v.context_i);
  }
  void start(uint8_t vpid, uint64_t at, bool on = true) {
    config(vpid, 3, at);
    config(vpid, 0, on);
    base[vpid] = on ? at & ~15ull : 0;
    model[vpid] = {};
  }
  void slots(uint8_t vpid, unsigned n) {
    consumed_ = {vpid, uint8_t(n)};
    step();
  }
  void step() {
    v.wr_ready_i = wr.ready(d);
    if (!consumed_ && d.chance(slot_percent)) consumed_ = {uint8_t(d.below(contexts)), uint8_t(1 + d.below(3))};
    v.sl_valid_i = consumed_.has_value();
    if (consumed_) {
      v.sl_vpid_i = consumed_->first, v.sl_count_i = consumed_->second;
      model[consumed_->first].slots += consumed_->second;
    }
    consumed_.reset();
    v.st_valid_i = !changes.empty();
    if (!changes.empty()) {
      const change& c = changes.front();
      v.st_vpid_i = c.vpid, v.st_local_i = c.local, v.st_remote_i = c.remote, v.st_error_i = c.error,
      v.st_status_i = c.status;
    }
    v.eval();
    if (!gate || v.busy_o || v.sl_valid_i || v.st_valid_i || pins::is_written(v.context_i)) {
      sample();
      edge();
    }
    ++now;
  }
  bool settle(unsigned limit = 20000) {
    const unsigned percent = std::exchange(slot_percent, 0);
    for (unsigned i = 0; i < limit; ++i) {
      step();
      v.eval();
      if (!v.busy_o && changes.empty()) break;
    }
    slot_percent = percent;
    v.eval();
    return !v.busy_o && changes.empty();
  }
  counts block(uint8_t vpid) const {
    return {mem.word(base[vpid]), mem.word(base[vpid] + 4), mem.word(base[vpid] + 8), mem.word(base[vpid] + 12)};
  }

 private:
  void edge() {
    v.clk_i = 1;
    v.eval();
    v.clk_i = 0;
    v.eval();
  }
  void sample() {
    if (v.st_valid_i && v.st_ready_o) {
      const change c = changes.front();
      changes.pop_front();
      counts& m = model[c.vpid];
      m.local += c.local;
      m.remote += c.remote;
      if (c.error) m.errors = uint32_t{c.status} << 24 | ((m.errors + 1) & 0xffffff);
    }
    if (!wr.sample(now, v.wr_o, v.wr_ready_i, v.wr_data_o)) return;
    const tlp& t = wr.all.back();
    EXPECT_EQ(t.len_dw, 4u);
    EXPECT_EQ(t.addr % 16, 0u);
    for (unsigned i = 0; i < 3; ++i) backwards += mem.word(t.addr + 4 * i) > t.data[i];
    mem.write(t);
    ++writes;
    wr.all.clear();
  }
  std::optional<std::pair<uint8_t, uint8_t>> consumed_;
};

template <class T>
class Status : public testing::Test {
 public:
  std::unique_ptr<T> own = std::make_unique<T>();
  T& b = *own;
  void SetUp() override { std::printf("seed %llu\n", static_cast<unsigned long long>(seed())); }
};
using widths = testing::Types<bench<Vstatus_64, 64>, bench<Vstatus_512, 512>>;
TYPED_TEST_SUITE(Status, widths);

TYPED_TEST(Status, OneChangeIsOneWriteAndSoon) {
  auto& b = this->b;
  b.start(7, 0x1234567890);
  const uint64_t from = b.now;
  b.slots(7, 3);
  while (!b.wr.accepted) b.step();
  EXPECT_LE(b.now - 1 - from, 4u);
  ASSERT_TRUE(b.settle());
  b.changes.push_back({.vpid = 7, .remote = 200, .status = 6, .local = true, .error = true});
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.block(7), (counts{3, 1, 200, 0x06000001}));
  EXPECT_EQ(b.writes, 2u);
}

// With nothing in their way blocks leave one after the other.
TYPED_TEST(Status, BlocksFollowEachOther) {
  auto& b = this->b;
  constexpr unsigned n = 40, beats = TypeParam::width < 128 ? 2 : 1;
  b.wr.percent = 0;
  for (unsigned i = 0; i < n; ++i) {
    b.start(uint8_t(i), 0x10000 + 0x100 * i);
    b.slots(uint8_t(i), 1);
  }
  for (unsigned i = 0; i < 10; ++i) b.step();
  b.wr.percent = 100;
  const uint64_t from = b.now;
  while (b.writes < n && b.now < from + 1000) b.step();
  std::printf("%u blocks in %llu cycles\n", n, static_cast<unsigned long long>(b.now - from));
  EXPECT_LE(b.now - from, n * (beats + 1) + 2);
  ASSERT_TRUE(b.settle());
}

// Counts that come all the time leave the writes their turn, and the writes leave it to counts.
TYPED_TEST(Status, WritesAndCountsTakeTurns) {
  auto& b = this->b;
  for (unsigned i = 0; i < 40; ++i) b.start(uint8_t(i), 0x10000 + 0x100 * i);
  for (unsigned i = 0; i < 1000; ++i) b.changes.push_back({.vpid = uint8_t(i % 40), .local = true});
  const uint64_t begin = b.now;
  while (!b.changes.empty() && b.now < begin + 4000) b.step();
  EXPECT_TRUE(b.changes.empty());
  EXPECT_GT(b.writes, 200u);
  ASSERT_TRUE(b.settle());
  for (unsigned i = 0; i < 40; ++i) EXPECT_EQ(b.block(uint8_t(i)), b.model[i]);
}

// A context with its status block goes from owner to owner.
TYPED_TEST(Status, NothingIsLeft) {
  expect_nothing_left<TypeParam>(
      seed(), 300,
      [](auto& b, uint64_t key, bool) {
        b.start(9, 0x4000);
        for (unsigned i = 0; i < 30; ++i) {
          const uint64_t n = b.d.bits() ^ key;
          b.changes.push_back({.vpid = 9, .remote = uint8_t(n), .status = uint8_t(1 + n % 9), .error = i % 5 == 0});
        }
      },
      [](auto& b, view& now) {
        now.see(pins::get(b.v.wr_o, pins::valid) && pins::get(b.v.wr_o, pins::sop), b.v.wr_o);
        now.see(pins::get(b.v.wr_o, pins::valid), b.v.wr_data_o);
      },
      [](auto& b) {
        b.start(9, 0, false);
        EXPECT_TRUE(b.settle());
      });
}

TYPED_TEST(Status, NoBlockNoWriteAndAStartBeginsAtZero) {
  auto& b = this->b;
  b.slots(9, 1);  // never started
  b.start(9, 0);
  b.slots(9, 1);
  ASSERT_TRUE(b.settle());
  b.start(9, 0x5000, false);
  b.slots(9, 1);
  ASSERT_TRUE(b.settle());
  EXPECT_EQ(b.writes, 0u);
  for (unsigned gap = 0; gap < 6; ++gap) {  // counted just before the start: never seen after it
    b.mem = {};
    b.slots(9, 2);
    for (unsigned i = 0; i < gap; ++i) b.step();
    b.start(9, 0x5000);
    b.slots(9, 1);
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.block(9), (counts{1, 0, 0, 0}));
  }
}

TYPED_TEST(Status, RandomChanges) {
  auto& b = this->b;
  for (unsigned i = 0; i < 255; i += 1 + i % 3) b.start(uint8_t(i), 0x10000 + 64 * i);
  for (unsigned phase = 0; phase < 8; ++phase) {
    b.contexts = phase % 2 ? 3 : 255;
    b.wr.percent = phase / 2 % 2 ? 30 : 100;
    b.slot_percent = phase < 4 ? 10 : 50;
    b.gate = phase % 3;
    for (unsigned n = 0; n < 4000; ++n) {
      if (b.changes.size() < 3 && b.d.chance(60))
        b.changes.push_back({.vpid = uint8_t(b.d.below(b.contexts)),
                             .remote = uint8_t(b.d.below(256)),
                             .status = uint8_t(b.d.below(16)),
                             .local = b.d.chance(50),
                             .error = b.d.chance(10)});
      b.step();
    }
    ASSERT_TRUE(b.settle());
    EXPECT_EQ(b.backwards, 0u);
    for (unsigned i = 0; i < 255; ++i) {
      if (b.base[i] == 0) continue;
      EXPECT_EQ(b.block(uint8_t(i)), b.model[i]) << "context " << i;
    }
  }
}

TYPED_TEST(Status, BusyUntilWritten) {
  auto& b = this->b;
  b.start(3, 0x1000);
  b.start(4, 0x2000);
  b.v.look_vpid_i = 3;
  b.wr.percent = 20;
  for (unsigned n = 0; n < 200; ++n) {
    b.slots(b.d.chance(50) ? 3 : 4, 1);
    for (;;) {
      b.v.eval();
      EXPECT_EQ(b.v.look_busy_o, b.block(3) != b.model[3]) << "cycle " << b.now;
      if (!b.v.busy_o) break;
      b.step();
    }
  }
}

// Under full load of changes the blocks are still written.
TYPED_TEST(Status, NeitherChangesNorBlocksStarve) {
  auto& b = this->b;
  for (unsigned i = 0; i < 4; ++i) b.start(uint8_t(i), 0x1000 + 16 * i);
  b.contexts = 4;
  b.slot_percent = 50;
  for (unsigned n = 0; n < 2000; ++n) {
    while (b.changes.size() < 4) b.changes.push_back({.vpid = uint8_t(n % 4), .remote = 1});
    b.step();
  }
  EXPECT_GT(b.writes, 200u);
  EXPECT_GT(b.model[0].remote + b.model[1].remote + b.model[2].remote + b.model[3].remote, 400u);
  b.changes.clear();
  ASSERT_TRUE(b.settle());
}

}  // namespace
}  // namespace ggas::test::rma
