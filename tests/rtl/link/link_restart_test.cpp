// SPDX-License-Identifier: Apache-2.0
// Links that start again: one side or both, with and without their state, at every cycle of a window, with old flits in
// flight. No acknowledged packet is lost, none is delivered twice, and no link is up without credits.
#include <iostream>

#include "tests/rtl/link/link_models.hpp"
#include "tests/rtl/link/restart_board.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

template <class T>
struct LinkRestartTest : testing::Test {
  using pair = link_pair<typename T::model, T::width>;
  using board = restart_board<pair>;
  static constexpr unsigned thin = T::width == 512 ? 4 : 1;   // of so many cases one is run: the model is slow
  static constexpr unsigned full = T::width == 64 ? 16 : 64;  // DW of a packet that is worth some credits

  static void set_up(pair& p, unsigned delay, unsigned limit = 3) {
    p.reset();
    for (unsigned i = 0; i < 2; ++i) {
      p[i].gated(true);
      p[i].pins().cfg_replay_limit_i = limit;
      p[i].pins().cfg_replay_timeout_i = 200;
      p[i].ready_probability(1);
      p[i].offer_probability(1);
      p[i].phy_probability(1);
      p.wire(i).delay(delay);
    }
  }
  static void send(pair& p, unsigned node, std::mt19937_64& rng, unsigned packets, unsigned max_dw = 24) {
    for (unsigned n = 0; n < packets; ++n) p[node].send(random_packet(rng, rng() % channels, max_dw));
  }
  static packet store(std::mt19937_64& rng, unsigned dws) {
    packet s = random_packet(rng, 0);
    s.len_dw = uint16_t(dws);
    s.data.assign(dws, uint32_t(rng()));
    return s;
  }
  // Loses the signal for some cycles, and what is said meanwhile.
  static void blip(pair& p, board& b, bool first, bool second, unsigned cycles, bool deaf = true) {
    const bool side[2] = {first, second};
    for (unsigned i = 0; i < 2; ++i)
      if (side[i]) {
        p[i].pins().link_rx_up_i = 0;
        if (deaf) p.wire(i).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });
      }
    for (unsigned k = 0; k < cycles; ++k) b.step();
    for (unsigned i = 0; i < 2; ++i)
      if (side[i]) {
        p[i].pins().link_rx_up_i = 1;
        p.wire(i).fault(nullptr);
      }
  }
  // Traffic still goes through, both ways and on every channel, more than the credits of a fresh link.
  static void check_alive(pair& p, board& b, std::mt19937_64& rng) {
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned n = 0; n < 48; ++n) p[i].send(random_packet(rng, n % channels));
    ASSERT_TRUE(b.drain()) << "states " << p[0].state() << " " << p[1].state() << ", unacknowledged "
                           << unsigned(p[0].pins().sts_unacked_o) << " " << unsigned(p[1].pins().sts_unacked_o);
  }
};
TYPED_TEST_SUITE(LinkRestartTest, all_link_models);

// Both sides retrain while credits of the session before are still on a long wire. A sender that counts them would
// overrun the buffer of its peer, which would drop packets that it has acknowledged.
TYPED_TEST(LinkRestartTest, OldCreditsDoNotCount) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed(), 300);
  typename TestFixture::board b(p);
  b.reaction = 1;
  ASSERT_TRUE(b.drain());
  for (unsigned n = 0; n < 60; ++n) p[0].send(TestFixture::store(rng, TestFixture::full));
  ASSERT_TRUE(b.run(20'000, [&] { return p[1].received(0).size() >= 40; }));
  TestFixture::blip(p, b, true, true, 4);
  p[1].ready_probability(0);
  for (unsigned n = 0; n < 60; ++n) p[0].send(TestFixture::store(rng, 64));
  for (unsigned k = 0; k < 30'000; ++k) b.step();
  p[1].ready_probability(1);
  ASSERT_TRUE(b.drain());
  b.check();
  EXPECT_GT(b.acked(0), 60u);
}

// One side starts again while the other still repeats its window: for a while nothing that it says is received.
TYPED_TEST(LinkRestartTest, RepeatedWindowIsNotDeliveredTwice) {
  for (const bool state_lost : {false, true}) {
    std::mt19937_64 rng(seed());
    typename TestFixture::pair p(seed(), 9);
    typename TestFixture::board b(p);
    TestFixture::set_up(p, 9, 8);
    ASSERT_TRUE(b.drain());
    p.wire(1).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });  // acknowledgements are lost
    for (unsigned n = 0; n < 100; ++n) p[0].send(TestFixture::store(rng, 2));
    ASSERT_TRUE(b.run(4'000, [&] { return p[1].received(0).size() >= 60; }));
    if (state_lost)
      b.restart(1);
    else
      TestFixture::blip(p, b, false, true, 4);
    p.wire(1).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });
    for (unsigned k = 0; k < 3'000; ++k) b.step();
    p.wire(1).fault(nullptr);
    ASSERT_TRUE(b.drain()) << "states " << p[0].state() << " " << p[1].state();
    TestFixture::check_alive(p, b, rng);
    b.check();
  }
}

// What goes wrong at one cycle of the window.
enum class mishap { blip_one, blip_both, reset_one, reset_both, cut_one, cut_both, repeat, count };
const char* const mishap_names[] = {"blip one", "blip both", "reset one", "reset both",
                                    "cut one",  "cut both",  "repeat"};

// The restart happens under load in both directions, at every cycle (at 512 bit each seed tests another quarter of the
// cycles), and once more while the link is still coming up.
TYPED_TEST(LinkRestartTest, EveryCycle) {
  constexpr unsigned window = 90;
  uint64_t cells = 0, dead = 0, acked = 0;
  typename TestFixture::pair p(seed());
  for (unsigned what = 0; what < unsigned(mishap::count); ++what)
    for (unsigned at = seed() % TestFixture::thin; at < window; at += TestFixture::thin) {
      std::mt19937_64 rng(seed() * 1'000'003 + what * window + at);
      const unsigned delay = at % 3 == 0 ? 3 : at % 3 == 1 ? 25 : 120;
      TestFixture::set_up(p, delay);
      typename TestFixture::board b(p);
      b.reaction = 1 + rng() % 60;
      // From before the link is up (at < 12) into the traffic.
      for (unsigned i = 0; i < 2; ++i) TestFixture::send(p, i, rng, 40);
      for (unsigned i = 0; i < 2; ++i) p[i].ready_probability(at % 2 ? 0.3 : 1);
      if (at >= 12) {
        ASSERT_TRUE(b.run(20'000, [&] { return p[0].state() == link_up && p[1].state() == link_up; }));
      }
      for (unsigned k = 0; k < at + delay; ++k) b.step();
      for (unsigned again = 0; again < 2; ++again) {
        const unsigned one = unsigned(rng() % 2), cycles = 1 + unsigned(rng() % 40);
        const auto lose = [](const flit&, uint64_t) { return std::vector<flit>{}; };
        switch (mishap(what)) {
          case mishap::blip_one:
            TestFixture::blip(p, b, one == 0, one == 1, cycles, rng() % 2);
            break;
          case mishap::blip_both:
            TestFixture::blip(p, b, true, true, cycles, rng() % 2);
            break;
          case mishap::reset_one:
            b.restart(one);
            break;
          case mishap::reset_both:
            b.restart(one);
            for (unsigned k = 0; k < cycles; ++k) b.step();
            b.restart(1 - one);
            break;
          case mishap::cut_one:
          case mishap::cut_both:
            for (unsigned i = 0; i < 2; ++i)
              if (what == unsigned(mishap::cut_both) || i == one) p.wire(i).fault(lose);
            for (unsigned k = 0; k < cycles * 300; ++k) b.step();
            for (unsigned i = 0; i < 2; ++i) p.wire(i).fault(nullptr);
            break;
          default:
            for (unsigned i = 0; i < 2; ++i)
              p.wire(i).fault([](const flit& f, uint64_t n) { return std::vector<flit>(1 + n % 3, f); });
            TestFixture::blip(p, b, one == 0, one == 1, cycles, false);
            b.restart(1 - one);
        }
        for (unsigned k = 0, n = unsigned(rng() % (2 * delay + 20)); k < n; ++k) b.step();
      }
      const auto where = [&] {
        return std::string(mishap_names[what]) + " at cycle " + std::to_string(at) + ", states " +
               std::to_string(p[0].state()) + " " + std::to_string(p[1].state());
      };
      ASSERT_TRUE(b.drain()) << where();
      for (unsigned i = 0; i < 2; ++i) p.wire(i).fault(nullptr);
      TestFixture::check_alive(p, b, rng);
      b.check();
      if (this->HasFailure()) FAIL() << where();
      ++cells;
      dead += p[0].count().dead + p[1].count().dead;
      acked += b.acked(0) + b.acked(1);
    }
  std::cout << TypeParam::width << " bit: " << cells << " cells, links given up " << dead << ", packets acknowledged "
            << acked << "\n";
  EXPECT_GT(dead, cells);
}

// Everything at random for a long time: faults on the wire, back-pressure, restarts of all kinds.
TYPED_TEST(LinkRestartTest, Random) {
  typename TestFixture::pair p(seed());
  uint64_t restarts = 0, acked = 0, sent = 0;
  for (unsigned round = 0; round < 12 / TestFixture::thin; ++round) {
    std::mt19937_64 rng(seed() * 77 + round), faults(seed() * 78 + round);
    TestFixture::set_up(p, unsigned(rng() % 100 + 2));
    typename TestFixture::board b(p);
    for (unsigned part = 0; part < 30; ++part) {
      b.reaction = 1 + rng() % 3000;
      for (unsigned i = 0; i < 2; ++i) {
        p[i].offer_probability(rng() % 2 ? 1 : 0.2);
        p[i].ready_probability(rng() % 3 ? 1 : 0.15);
        p[i].phy_probability(rng() % 4 ? 1 : 0.6);
        TestFixture::send(p, i, rng, unsigned(rng() % 150), 64);
        p.wire(i).fault([&](const flit& f, uint64_t) -> std::vector<flit> {
          const auto r = faults() % 1000;
          if (r < 4) return {};
          if (r < 8) return {f, f};
          if (r > 10) return {f};
          flit g = f;
          g.data[faults() % (TypeParam::width / 64)] ^= uint64_t{1} << faults() % 64;
          return {g};
        });
      }
      for (unsigned k = 0, n = unsigned(rng() % 1500); k < n; ++k) b.step();
      const unsigned one = unsigned(rng() % 2);
      switch (rng() % 5) {
        case 0:
          TestFixture::blip(p, b, one == 0, one == 1, 1 + unsigned(rng() % 30));
          break;
        case 1:
          TestFixture::blip(p, b, true, true, 1 + unsigned(rng() % 30), false);
          break;
        case 2:
          b.restart(one);
          break;
        case 3:
          p.wire(one).fault([](const flit&, uint64_t) { return std::vector<flit>{}; });
          for (unsigned k = 0, n = unsigned(rng() % 8000); k < n; ++k) b.step();
          break;
        default:
          continue;
      }
      ++restarts;
    }
    for (unsigned i = 0; i < 2; ++i) {
      p.wire(i).fault(nullptr);
      p[i].offer_probability(1);
      p[i].ready_probability(1);
      p[i].phy_probability(1);
    }
    b.reaction = 1;
    ASSERT_TRUE(b.drain(3'000'000)) << "round " << round << " states " << p[0].state() << " " << p[1].state();
    TestFixture::check_alive(p, b, rng);
    b.check();
    if (this->HasFailure()) FAIL() << "round " << round << " seed " << seed();
    for (unsigned i = 0; i < 2; ++i) {
      acked += b.acked(i);
      sent += p[i].begun().size();
    }
  }
  std::cout << TypeParam::width << " bit: " << restarts << " restarts, " << sent << " packets, " << acked
            << " acknowledged\n";
}

// Flits of an ended session that come late, as no wire should bring them: no one takes them.
TYPED_TEST(LinkRestartTest, OldFlitsAreNotTaken) {
  std::mt19937_64 rng(seed());
  typename TestFixture::pair p(seed());
  TestFixture::set_up(p, 5);
  typename TestFixture::board b(p);
  b.reaction = 1;
  ASSERT_TRUE(b.drain());
  p.keep_log = true;
  for (unsigned i = 0; i < 2; ++i) TestFixture::send(p, i, rng, 100, 64);
  ASSERT_TRUE(b.drain());
  p.keep_log = false;
  TestFixture::blip(p, b, true, true, 3);
  ASSERT_TRUE(b.drain());
  const size_t before[2] = {p[0].received_total(), p[1].received_total()};
  for (const auto& r : p.log) {
    p.wire(r.from).inject(r.f, p.time());
    b.step();
  }
  ASSERT_TRUE(b.drain());
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(p[i].received_total(), before[i]) << "old packets were delivered";
    EXPECT_EQ(p[i].count().replays, 0u);
    p[i].ready_probability(0);  // credits that were counted would show now
    for (unsigned n = 0; n < 100; ++n) p[i].send(random_packet(rng, n % channels));
  }
  for (unsigned k = 0; k < 9000; ++k) b.step();
  for (unsigned i = 0; i < 2; ++i) p[i].ready_probability(1);
  TestFixture::check_alive(p, b, rng);
  b.check();
}

}  // namespace
}  // namespace ggas::test
