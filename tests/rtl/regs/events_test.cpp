// SPDX-License-Identifier: Apache-2.0
// Event ring (wrap, overflow) and MSI-X (mask, pending, moderation).
#include <array>
#include <map>
#include <random>

#include "ggas_reg_names.hpp"
#include "tests/rtl/regs/suite.hpp"

namespace ggas::test {
namespace {

TEST_F(regs_test, DisabledRingTakesEventsSilently) {
  for (int i = 0; i < 50; ++i) event(static_cast<unsigned>(i) % 3, 5, 1);
  EXPECT_TRUE(records.empty());
  EXPECT_EQ(read(regs::event_counter(GGAS_EV_EVENT_OVERFLOW)), 0u);
}

TEST_F(regs_test, RingWrapsWithAlternatingPhase) {
  enable_ring(4);
  for (unsigned i = 0; i < 100; ++i) {
    event(i % 3, 1 + i % 19, i);
    run(3);
    write(GGAS_REG_EVQ_TAIL, i + 1);
  }
  ASSERT_EQ(records.size(), 100u);
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(records[i].addr, 0x12345000u + 16 * (i % 16));
    EXPECT_EQ(records[i].sequence(), i);
    EXPECT_EQ(records[i].phase(), i / 16 % 2 == 0) << i;
    EXPECT_EQ(records[i].code(), 1 + i % 19);
    EXPECT_EQ(records[i].info(), i);
  }
  EXPECT_EQ(read(GGAS_REG_EVQ_HEAD), 100u);
  // Enabled again it starts over.
  write(GGAS_REG_EVQ_CTRL, 4 << 8);
  enable_ring(4);
  event(0, 2, 77);
  run(3);
  EXPECT_EQ(records.back().sequence(), 0u);
  EXPECT_TRUE(records.back().phase());
}

// A record that waits for the host belongs to the old ring: it is stopped only when that record was taken.
TEST_F(regs_test, RingIsStoppedBehindItsLastRecord) {
  const auto stopped = [&] { return read(GGAS_REG_STOPPED) & GGAS_STOPPED_EVENTS_MASK; };
  EXPECT_TRUE(stopped()) << "never enabled";
  for (unsigned round = 0; round < 3; ++round) {
    enable_ring(4);
    EXPECT_FALSE(stopped());
    v.rec_ready_i = 0;
    event(0, 2, round);
    write(GGAS_REG_EVQ_CTRL, 4 << 8);
    for (unsigned i = 0; i < 20; ++i) EXPECT_FALSE(stopped());
    v.rec_ready_i = 1;
    event(1, 3, round);
    run(3);
    EXPECT_TRUE(stopped());
    EXPECT_EQ(records.size(), round + 1) << "what came later is only counted";
    EXPECT_EQ(records.back().info(), round);
  }
}

// A ring has 16 records at least, whatever software writes.
TEST_F(regs_test, SmallestRing) {
  for (unsigned log2 = 0; log2 < 5; ++log2) {
    write(GGAS_REG_EVQ_CTRL, 0);
    run(20);
    records.clear();
    enable_ring(log2);
    for (unsigned i = 0; i < 20; ++i) event(i % 3, 1 + i % 19, i), run(3);
    ASSERT_EQ(records.size(), 16u) << log2;
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(records[i].addr, 0x12345000u + 16 * i);
  }
}

// Halves of a vector's words are written by themselves; what was not written reads 0.
TEST_F(regs_test, VectorsByHalves) {
  std::array<std::array<uint64_t, 2>, 16> want{};
  for (auto& w : want) w[1] = 1ull << 32;  // masked
  std::mt19937_64 rng(3);
  for (unsigned i = 0; i < 600; ++i) {
    const unsigned n = unsigned(rng() % 16), word = unsigned(rng() % 2), halves = unsigned(rng() % 4);
    const auto addr = static_cast<uint16_t>(GGAS_REG_MSIX_ADDR(n) + 8 * word);
    const uint64_t mask = (halves & 1 ? 0xffff'ffff : 0) | (halves & 2 ? 0xffff'ffffull << 32 : 0);
    const uint64_t data = rng() | 1ull << 32, kept = word ? 0x1'ffff'ffff : ~0ull;
    write(addr, data, uint8_t((halves & 1 ? 0x0f : 0) | (halves & 2 ? 0xf0 : 0)));
    want[n][word] = (want[n][word] & ~mask) | (data & mask & kept);
    for (unsigned k = 0; k < 2; ++k)
      EXPECT_EQ(read(static_cast<uint16_t>(GGAS_REG_MSIX_ADDR(n) + 8 * k)), want[n][k]) << n << " word " << k;
  }
}

TEST_F(regs_test, FullRingCountsWhatItDropsAndSaysSo) {
  enable_ring(4);
  for (unsigned i = 0; i < 16 + 9; ++i) event(i % 3, 3, i);
  run(10);
  EXPECT_EQ(records.size(), 16u);
  EXPECT_EQ(read(regs::event_counter(GGAS_EV_EVENT_OVERFLOW)), 9u);
  write(GGAS_REG_EVQ_TAIL, 4);
  run(10);
  ASSERT_EQ(records.size(), 17u);
  EXPECT_EQ(records[16].code(), static_cast<unsigned>(GGAS_EV_EVENT_OVERFLOW));
  EXPECT_EQ(records[16].info(), 9u);
  EXPECT_EQ(records[16].addr, 0x12345000u);
  event(1, 6, 42);
  run(10);
  ASSERT_EQ(records.size(), 18u);
  EXPECT_EQ(records[17].info(), 42u);
}

TEST_F(regs_test, MaskedCodesAreOnlyCounted) {
  enable_ring(8);
  write(GGAS_REG_EVQ_MASK, 1u << GGAS_EV_STORE_UNMAPPED | 1u << GGAS_EV_RMA_RETRY_LIMIT);
  for (unsigned code = 1; code < 31; ++code) event(code % 3, code, code);
  run(10);
  ASSERT_EQ(records.size(), 28u);
  for (const auto& r : records) {
    EXPECT_NE(r.code(), unsigned{GGAS_EV_STORE_UNMAPPED});
    EXPECT_NE(r.code(), unsigned{GGAS_EV_RMA_RETRY_LIMIT});
  }
  EXPECT_EQ(read(regs::event_counter(GGAS_EV_EVENT_LIMITED)), 0u);
}

// The share that an event uses, as docs/memory-map.md describes it.
unsigned share_of(unsigned code, unsigned node, uint64_t info, unsigned interval) {
  switch (code) {
    case GGAS_EV_BAD_DESCRIPTOR:
    case GGAS_EV_RMA_PROTECTION:
    case GGAS_EV_RMA_TIMEOUT:
    case GGAS_EV_NOTIFY_LOST:
    case GGAS_EV_RMA_UNREACHABLE:
    case GGAS_EV_RMA_RETRY_LIMIT:
      return unsigned(info & 0xff);
    case GGAS_EV_PAGE_ACCESS:
      return unsigned(info >> 13 & 0xff);
    case GGAS_EV_TARGET_RANGE:
    case GGAS_EV_TARGET_HOST_ERROR:
    case GGAS_EV_TARGET_TIMEOUT:
    case GGAS_EV_BAD_PACKET:
    case GGAS_EV_TARGET_PROTECTION:
    case GGAS_EV_CONTEXT_OFF:
      return 2000 + node % 64;
    default:
      return interval < 64 ? 3000 + interval : 4000 + code;
  }
}

// Events at random against the rule: of each share so many records a period, in the order of the events.
TEST_F(regs_test, NobodyWritesMoreRecordsThanItsShare) {
  std::mt19937_64 rng(7);
  std::map<std::array<uint64_t, 3>, unsigned> used;
  for (unsigned round = 0; round < 8; ++round) {
    const unsigned limit = unsigned(rng() % 4), log2_ticks = unsigned(rng() % 3);
    write(GGAS_REG_EVQ_CTRL, 0);
    write(GGAS_REG_EVQ_LIMIT, limit | log2_ticks << 8);
    enable_ring(16);
    records.clear();
    const uint64_t limited_before = read(regs::event_counter(GGAS_EV_EVENT_LIMITED));
    std::vector<uint64_t> expected;
    uint64_t limited = 0;
    std::array<uint64_t, 3> offered{};
    std::array<unsigned, 3> interval{};
    for (unsigned i = 0; i < 12000; ++i) {
      for (unsigned s = 0; s < 3; ++s) {
        if (v.ev_valid_i >> s & 1 || rng() % 4) continue;
        // Few who cause events, so that they meet again.
        const uint64_t code = 1 + rng() % 30, node = rng() % 3 + 62;
        offered[s] = code << 56 | node << 40 | (rng() % 3) << 13 | (rng() % 2 + 254 * (rng() % 2));
        interval[s] = unsigned(rng() % 3 ? rng() % 2 + 62 : 64 + rng() % 64);
        v.ev_i[2 * s] = uint32_t(offered[s]);
        v.ev_i[2 * s + 1] = uint32_t(offered[s] >> 32);
        v.ev_interval_i = (v.ev_interval_i & ~(0x7fu << 7 * s)) | interval[s] << 7 * s;
        v.ev_valid_i |= uint8_t(1u << s);
      }
      v.rec_ready_i = rng() % 3 != 0;
      cycle();
      for (unsigned s = 0; s < 3; ++s) {
        if (!(taken >> s & 1)) continue;
        const uint64_t e = offered[s];
        const unsigned share = share_of(e >> 56, e >> 40 & 0xffff, e & 0xffffffffff, interval[s]);
        unsigned& n = used[{share, (now - 1) >> 10 >> log2_ticks, log2_ticks}];
        if (limit && n >= limit) {
          ++limited;
        } else {
          n += limit != 0;
          expected.push_back(e);
        }
      }
    }
    v.rec_ready_i = 1;
    v.ev_valid_i = 0;
    run(20);
    ASSERT_EQ(records.size(), expected.size()) << "round " << round;
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(records[i].event, expected[i]) << i;
    EXPECT_EQ(read(regs::event_counter(GGAS_EV_EVENT_LIMITED)) - limited_before, limited);
    if (limit) {
      EXPECT_GT(limited, 500u);
    }
  }
}

TEST_F(regs_test, EventSourcesTakeTurns) {
  enable_ring(16);
  v.rec_ready_i = 1;
  std::array<unsigned, 3> count{};
  for (unsigned i = 0; i < 300; ++i) {
    for (unsigned s = 0; s < 3; ++s)
      if (!(v.ev_valid_i >> s & 1)) {
        v.ev_i[2 * s] = i;
        v.ev_i[2 * s + 1] = (s + 1) << 24;
        v.ev_valid_i |= static_cast<uint8_t>(1u << s);
      }
    cycle();
  }
  for (auto& r : records) ++count[r.code() - 1];
  for (unsigned n : count) EXPECT_NEAR(n, records.size() / 3.0, 1.0);
  EXPECT_GE(records.size(), 100u);
}

TEST_F(regs_test, EventRaisesItsVectorAfterTheRecord) {
  enable_vector(5);
  enable_ring(4, 5);
  v.rec_ready_i = 0;
  event(0, 1, 0);
  run(20);
  EXPECT_TRUE(messages.empty()) << "before the record was taken";
  v.rec_ready_i = 1;
  run(5);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].addr, 0xfee00050u);
  EXPECT_EQ(messages[0].data, 0x4005u);
  EXPECT_EQ(read(GGAS_REG_HOST_MSIX), 1u);
  write(GGAS_REG_EVQ_CTRL, 1 | 4 << 8 | 200 << 16);  // no such vector
  event(0, 1, 0);
  run(5);
  EXPECT_EQ(messages.size(), 1u);
}

TEST_F(regs_test, MaskedVectorsWaitAsPending) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  for (unsigned i = 0; i < 16; i += 2) write(static_cast<uint16_t>(GGAS_REG_MSIX_CTRL(i)), 1ULL << 32, 0xf0);
  fire_all(0xffff);
  run(60);
  EXPECT_EQ(messages.size(), 8u);
  for (auto& m : messages) EXPECT_EQ(m.data & 1, 1u);
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 0x5555u);
  EXPECT_FALSE(v.busy_o) << "a masked vector needs no clock";
  messages.clear();
  for (unsigned i = 0; i < 16; i += 2) write(static_cast<uint16_t>(GGAS_REG_MSIX_CTRL(i)), 0, 0xf0);
  run(60);
  EXPECT_EQ(messages.size(), 8u);
  for (auto& m : messages) EXPECT_EQ(m.data, 0x4000u + (m.addr - 0xfee00000u) / 16);
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 0u);
}

TEST_F(regs_test, StuckHostLosesNoInterrupt) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  v.msg_ready_i = 0;
  fire_all(0x00f0);
  run(50);
  fire_all(0xff00);
  run(50);
  EXPECT_TRUE(messages.empty());
  v.msg_ready_i = 1;
  run(60);
  EXPECT_EQ(messages.size(), 12u);
}

TEST_F(regs_test, ModerationDelaysAndNeverLoses) {
  constexpr uint64_t distance = 3000;
  enable_vector(2);
  enable_vector(3);
  write(GGAS_REG_MODERATION(2), distance);
  std::mt19937_64 rng(9);
  uint64_t last_raise = 0;
  for (int i = 0; i < 40000; ++i) {
    if (rng() % 500 == 0) {
      fire(2);
      last_raise = now;
    }
    cycle();
  }
  fire(3);  // another vector is not held up
  const uint64_t raised = now;
  run(10);
  ASSERT_FALSE(messages.empty());
  EXPECT_EQ(messages.back().addr, 0xfee00030u);
  EXPECT_LE(messages.back().at - raised, 4u);
  messages.pop_back();
  run(2 * distance);
  for (size_t i = 1; i < messages.size(); ++i) {
    EXPECT_GE(messages[i].at - messages[i - 1].at, distance);
    // Raised all the time, so the next one follows within the distance, a tick and the gap between raises.
    EXPECT_LE(messages[i].at - messages[i - 1].at, distance + 1024 + 5000);
  }
  EXPECT_GT(messages.size(), 8u);
  EXPECT_GE(messages.back().at, last_raise) << "the last one was lost";
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 0u);
}

// `count` raises end the wait; they are counted from the message on, the one that comes with it too.
TEST_F(regs_test, ModerationEndsWithSoManyRaises) {
  enable_vector(2);
  write(GGAS_REG_MODERATION(2), 5ULL << 32 | 1'000'000);
  for (unsigned round = 0; round < 10; ++round) {
    const size_t before = messages.size();
    for (unsigned i = round ? 0 : 4; i < 5; ++i) {  // the first one of all leaves at once
      EXPECT_EQ(messages.size(), before) << "raise " << i << " of round " << round;
      fire(2);
      run(20);
    }
    ASSERT_EQ(messages.size(), before + 1) << "round " << round;
  }
  write(GGAS_REG_MODERATION(2), 0);
  fire(2);
  run(1100);
  EXPECT_EQ(messages.size(), 11u);
  EXPECT_EQ(read(GGAS_REG_MODERATION(2)), 0u);
  EXPECT_EQ(read(GGAS_REG_MODERATION(3)), 0u) << "never written";
}

// A raise before its vector's message leaves is covered by that message. A raise in that cycle or later is not: it gets
// a separate message, and counts for moderation.
TEST_F(regs_test, RaisedAsItsMessageLeaves) {
  constexpr uint64_t raise_to_message = 3;
  enable_vector(5);
  const uint64_t first = now;
  fire(5);
  run(50);
  ASSERT_EQ(messages.size(), 1u);
  const uint64_t fire_to_raise = messages[0].at - first - raise_to_message;
  for (bool moderated : {false, true}) {
    write(GGAS_REG_MODERATION(5), moderated ? 2ULL << 32 | 1'000'000 : 0);
    for (unsigned gap = 0; gap < 2 * fire_to_raise + 4; ++gap) {
      v.msg_ready_i = 1;
      write(GGAS_REG_MODERATION(5), 0);
      run(2100);
      write(GGAS_REG_MODERATION(5), moderated ? 2ULL << 32 | 1'000'000 : 0);
      messages.clear();
      v.msg_ready_i = 0;
      fire(5);
      run(50);
      const uint64_t raise = now + fire_to_raise;
      fire(5);
      run(gap);
      const bool own = raise >= now;
      v.msg_ready_i = 1;
      cycle();
      run(1100);  // after a tick the vector is free again
      EXPECT_EQ(messages.size(), !moderated && own ? 2u : 1u) << "gap " << gap;
      if (!moderated) continue;
      fire(5);
      run(50);
      EXPECT_EQ(messages.size(), own ? 2u : 1u) << "gap " << gap;
    }
  }
}

// The host accepts nothing while the vector is masked: the offered message must not leave after the mask, nor with the
// old address.
TEST_F(regs_test, AMessageOnOfferIsWithdrawnByTheMask) {
  enable_vector(4);
  v.msg_ready_i = 0;
  fire(4);
  run(10);
  EXPECT_TRUE(v.msg_valid_o);
  write(GGAS_REG_MSIX_CTRL(4), 1ULL << 32, 0xf0);
  v.msg_ready_i = 1;
  run(50);
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 1u << 4);
  write(GGAS_REG_MSIX_ADDR(4), 0xfee0f000);
  write(GGAS_REG_MSIX_CTRL(4), 0, 0xf0);
  run(10);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].addr, 0xfee0f000u);
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 0u);
}

// MSI-X off, or the function masked, holds every vector; what waits for the host is withdrawn.
TEST_F(regs_test, NoMessageWhileTheFunctionMayNotSend) {
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  v.msg_ready_i = 0;
  fire_all(0xffff);
  run(10);
  EXPECT_TRUE(v.msg_valid_o);
  v.msix_enable_i = 0;
  v.msg_ready_i = 1;
  run(60);
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 0xffffu);
  EXPECT_FALSE(v.busy_o);
  v.msix_enable_i = 1;
  run(60);
  EXPECT_EQ(messages.size(), 16u);
}

// Masks at random under load: no message of a masked vector, none lost.
TEST_F(regs_test, MasksAtRandom) {
  std::mt19937_64 rng(5);
  for (unsigned i = 0; i < 16; ++i) enable_vector(i);
  std::array<bool, 16> masked{}, raised{};
  size_t seen = 0;
  const auto look = [&] {
    for (; seen < messages.size(); ++seen) {
      const auto i = size_t((messages[seen].addr - 0xfee00000) / 16);
      ASSERT_FALSE(masked[i]) << "vector " << i << ", message " << seen;
      raised[i] = false;
    }
  };
  for (unsigned k = 0; k < 100'000; ++k) {
    v.msg_ready_i = rng() % 4 == 0;
    const unsigned i = rng() % 16;
    if (rng() % 8 == 0) {
      const bool mask = rng() % 2;
      write(static_cast<uint16_t>(GGAS_REG_MSIX_CTRL(i)), uint64_t{mask} << 32, 0xf0);
      look();  // what left before the mask was known
      masked[i] = mask;
    } else {
      fire(i);
      cycle();
      look();
      raised[i] = true;
    }
    look();
    ASSERT_FALSE(HasFatalFailure());
  }
  v.msg_ready_i = 1;
  for (unsigned i = 0; i < 16; ++i) write(static_cast<uint16_t>(GGAS_REG_MSIX_CTRL(i)), 0, 0xf0);
  masked = {};
  run(100);
  look();
  for (unsigned i = 0; i < 16; ++i) EXPECT_FALSE(raised[i]) << "the interrupt of vector " << i << " was lost";
}

// With moderation a stopped clock makes no difference: the NIC is clocked while busy, and on ticks while timer_o.
TEST_F(regs_test, ModerationWithAGatedClock) {
  enable_vector(2);
  write(GGAS_REG_MODERATION(2), 3000);
  auto play = [&](bool gated) {
    messages.clear();
    now = (now / 102400 + 1) * 102400;  // ticks fall on the same offsets in both runs
    const uint64_t start = now;
    while (now < start + 20000) {
      const uint64_t t = now - start;
      if (t == 10 || t == 500 || t == 4000 || t == 7100) fire(2);
      const bool tick = now % 1024 == 0 && v.timer_o;
      if (gated && !v.busy_o && !tick && !v.fire_i) {
        ++now;
        continue;
      }
      cycle();
    }
    std::vector<uint64_t> at;
    for (auto& m : messages) at.push_back(m.at - start);
    return at;
  };
  const auto free_running = play(false);
  run(5000);
  const auto gated = play(true);
  EXPECT_EQ(free_running, gated);
  EXPECT_EQ(free_running.size(), 4u);
}

}  // namespace
}  // namespace ggas::test
