// SPDX-License-Identifier: Apache-2.0
// Numbered flits over lanes whose clocks, bits and cables are not ideal: what does not arrive was reported
// (docs/board.md).
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "Vlanes4.h"
#include "Vlanes8.h"
#include "tests/rtl/lanes/lane_line.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  return (x ^ x >> 27) * 0x94d049bb133111ebull;
}

// What the receiver saw, and what it may have lost.
struct tally {
  uint64_t sent = 0, arrived = 0, damaged = 0, lost = 0, bad = 0, falls = 0, silent = 0, repeated = 0;
};

template <class Model, unsigned Lanes>
class lanes {
 public:
  explicit lanes(uint64_t seed) : line_(seed), rng_(seed + 1) {}

  // Parts per million by which a clock is fast.
  void clocks(int from, int on_wire, int to) {
    clocks_.fast(0, from);
    clocks_.fast(1, on_wire);
    clocks_.fast(2, to);
  }
  void offer(double p) { offer_ = p; }
  void wire_clock(bool on) { wire_on_ = on; }
  lane_line<Model, Lanes>& line() { return line_; }

  bool up() const { return line_.pins().up_o; }
  const tally& count() const { return count_; }

  // Cycles of the receiver.
  void run(uint64_t cycles) {
    for (const uint64_t end = received_ + cycles; received_ < end;) step();
  }
  bool run_until_up(uint64_t limit) {
    for (const uint64_t end = received_ + limit; received_ < end && !up();) step();
    return up();
  }

 private:
  void step() {
    const auto rises = clocks_.step();
    if (rises[2]) check();
    const bool taken = line_.pins().flit_valid_i && line_.pins().flit_ready_o;
    line_.rise(rises[0], rises[1] && wire_on_, rises[2]);
    if (rises[0]) give(taken);
    received_ += rises[2];
  }

  void give(bool taken) {
    auto& m = line_.pins();
    if (taken) ++count_.sent;
    if (m.flit_valid_i && !taken) return;
    m.flit_valid_i = rng_.chance(offer_);
    const uint64_t n = count_.sent + 1;
    m.flit_kind_i = mix(n) & 3;
    for (unsigned l = 0; l < Lanes; ++l) line_.flit_word(l, l == 0 ? n : mix(n + l * 0x9e3779b97f4a7c15ull));
  }

  // Before the receiver's edge: what it sees.
  void check() {
    const auto& m = line_.pins();
    if (was_up_ && !m.up_o) ++count_.falls, excused_ = true;
    was_up_ = m.up_o;
    if (m.bad_o) ++count_.bad, ++excuses_;
    if (!m.flit_valid_o) return;
    EXPECT_TRUE(m.up_o) << "a flit while the lanes are down";
    const uint64_t n = line_.flit_word(0);
    bool whole = n != 0 && n <= count_.sent + 1 && m.flit_kind_o == (mix(n) & 3);
    for (unsigned l = 1; l < Lanes; ++l) whole = whole && line_.flit_word(l) == mix(n + l * 0x9e3779b97f4a7c15ull);
    if (!whole) {  // for the CRC of the link
      ++count_.damaged, ++excuses_;
      return;
    }
    ++count_.arrived;
    if (n <= last_) {
      ++count_.repeated;
      return;
    }
    const uint64_t gap = n - last_ - 1;
    count_.lost += gap;
    if (gap > excuses_ && !excused_) count_.silent += gap - excuses_;
    last_ = n;
    excuses_ = 0;
    excused_ = false;
  }

  lane_line<Model, Lanes> line_;
  lane_clocks<3> clocks_;  // of the sender, the lanes, the receiver
  rng rng_;
  double offer_ = 1;
  bool wire_on_ = true, was_up_ = false, excused_ = true;  // before the first flit all may be lost
  uint64_t received_ = 0, last_ = 0, excuses_ = 0;
  tally count_;
};

using four = lanes<Vlanes4, 4>;
using eight = lanes<Vlanes8, 8>;
constexpr uint64_t lock_time = 40'000;  // 66 slips of some 100 blocks, two markers, twice

template <class T>
class LanesTest : public testing::Test {};
using Widths = testing::Types<four, eight>;
TYPED_TEST_SUITE(LanesTest, Widths);

void nothing_silent(const tally& c) {
  EXPECT_EQ(c.silent, 0u) << "flits lost without a report";
  EXPECT_EQ(c.repeated, 0u) << "flits repeated or out of order";
}

// ---- ideal wires, clocks off by up to 300 ppm each way: everything arrives
TYPED_TEST(LanesTest, ClockOffset) {
  for (const auto [from, on_wire, to] : {std::array{0, 0, 0}, {300, 300, -300}, {-300, -300, 300}, {300, -300, -300}}) {
    TypeParam d(seed());
    d.clocks(from, on_wire, to);
    d.offer(0);
    ASSERT_TRUE(d.run_until_up(lock_time));
    d.offer(1);
    d.run(20'000);
    d.offer(0.7);
    d.run(5'000);
    d.offer(0);
    d.run(200);
    const tally& c = d.count();
    EXPECT_GT(c.sent, 22'000u);
    EXPECT_EQ(c.arrived, c.sent) << from << " " << on_wire << " " << to;
    EXPECT_EQ(c.damaged + c.lost + c.bad + c.falls, 0u);
    nothing_silent(c);
  }
}

// ---- bits that change: a header is noticed, data is for the CRC; the lanes stay up
TYPED_TEST(LanesTest, BitErrors) {
  TypeParam d(seed());
  d.clocks(300, 300, -300);
  ASSERT_TRUE(d.run_until_up(lock_time));
  d.line().bit_errors(0.001);
  d.run(40'000);
  d.line().bit_errors(0);
  d.run(1000);
  const tally& c = d.count();
  EXPECT_GT(c.bad, 0u);
  EXPECT_GT(c.damaged, 50u);
  EXPECT_EQ(c.falls, 0u);
  EXPECT_GT(c.arrived, 38'000u);
  nothing_silent(c);
}

// ---- a lane slips by a bit: the lanes go down and come up again
TYPED_TEST(LanesTest, Slips) {
  TypeParam d(seed());
  d.clocks(-300, -300, 300);
  for (int k = 0; k < 6; ++k) {
    ASSERT_TRUE(d.run_until_up(lock_time)) << k;
    d.run(3'000);
    d.line().slip_one();
    d.run(200);
    EXPECT_FALSE(d.up()) << "not noticed within 200 cycles";
  }
  EXPECT_EQ(d.count().falls, 6u);
  nothing_silent(d.count());
}

// ---- cables pulled and put in again, one lane or all; transceivers that stop
TYPED_TEST(LanesTest, CablePull) {
  TypeParam d(seed());
  d.clocks(300, 300, -300);
  for (int k = 0; k < 6; ++k) {
    ASSERT_TRUE(d.run_until_up(lock_time)) << k;
    d.run(3'000);
    if (k % 3 == 2)
      d.wire_clock(false);
    else
      d.line().noise(k % 3 == 0 ? 1 : ~0u);
    d.run(2'000);
    EXPECT_FALSE(d.up()) << k;
    d.line().noise(0);
    d.wire_clock(true);
    if (k % 3 != 2) d.line().connect();
  }
  nothing_silent(d.count());
}

// ---- a wire that is faster than markers make up for: buffers are full, and the lanes go down instead of losing flits
TYPED_TEST(LanesTest, TooFast) {
  TypeParam d(seed());
  ASSERT_TRUE(d.run_until_up(lock_time));
  d.clocks(5000, 5000, 0);
  d.run(60'000);
  EXPECT_GT(d.count().falls, 2u);
  EXPECT_EQ(d.count().damaged, 0u) << "lanes out of step, and flits were put together of them";
  nothing_silent(d.count());
}

// ---- everything at random. GGAS_FLITS: at least so many
TYPED_TEST(LanesTest, Everything) {
  const char* many = std::getenv("GGAS_FLITS");
  const uint64_t flits = many ? std::strtoull(many, nullptr, 0) : 150'000;
  TypeParam d(seed());
  rng r(seed() + 1);
  uint64_t ups = 0;
  while (d.count().arrived < flits) {
    d.clocks(int(r.range(0, 600)) - 300, int(r.range(0, 600)) - 300, int(r.range(0, 600)) - 300);
    d.offer(r.chance(0.7) ? 1 : 0.3);
    d.line().bit_errors(r.chance(0.5) ? 0 : r.chance(0.5) ? 1e-5 : 1e-3);
    if (d.run_until_up(2 * lock_time)) ++ups;
    d.run(r.range(100, flits / 20));
    if (r.chance(0.3)) d.line().slip_one();
    if (r.chance(0.2)) d.line().noise(unsigned(r.next()));
    if (r.chance(0.1)) d.wire_clock(false);
    d.run(r.range(1, 400));
    if (r.chance(0.1)) d.line().connect();
    d.line().noise(0);
    d.wire_clock(true);
  }
  const tally& c = d.count();
  std::printf("sent %llu, arrived %llu, damaged %llu, lost %llu, bad blocks %llu, falls %llu\n",
              (unsigned long long)c.sent, (unsigned long long)c.arrived, (unsigned long long)c.damaged,
              (unsigned long long)c.lost, (unsigned long long)c.bad, (unsigned long long)c.falls);
  EXPECT_GT(c.falls, 0u);
  EXPECT_GT(ups, 3u);
  nothing_silent(c);
}

}  // namespace
}  // namespace ggas::test
