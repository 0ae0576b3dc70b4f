// SPDX-License-Identifier: Apache-2.0
// Register access rules, counters, event ring (wrap, overflow) and MSI-X (mask, pending, moderation).
#include <gtest/gtest.h>
#include <verilated.h>

#include <array>
#include <map>
#include <random>
#include <vector>

#include "Vregs_bench.h"
#include "ggas_reg_names.hpp"
#include "ggas_regs.h"

namespace ggas::test {
namespace {

struct record {
  uint64_t addr, event, tail;
  bool phase() const { return tail & 1; }
  uint64_t sequence() const { return tail >> 1; }
  unsigned code() const { return event >> 56; }
  uint64_t info() const { return event & 0xffffffffffULL; }
};
struct message {
  uint64_t addr;
  uint32_t data;
  uint64_t at;
};

class regs_test : public testing::Test {
 protected:
  regs_test() {
    v.rst_ni = 0;
    for (int i = 0; i < 4; ++i) v.clk_i = i & 1, v.eval();
    v.clk_i = 0;
    v.rst_ni = 1;
    v.msg_ready_i = v.rec_ready_i = 1;
    v.eval();
  }

  void cycle() {
    v.time_i = now;
    v.clk_i = 0;
    v.eval();
    if (v.rec_valid_o && v.rec_ready_i)
      records.push_back({v.rec_addr_o, v.rec_data_o[0] | uint64_t{v.rec_data_o[1]} << 32,
                         v.rec_data_o[2] | uint64_t{v.rec_data_o[3]} << 32});
    if (v.msg_valid_o && v.msg_ready_i) messages.push_back({v.msg_addr_o, v.msg_data_o, now});
    taken = v.ev_valid_i & v.ev_ready_o;
    v.clk_i = 1;
    v.eval();
    v.ev_valid_i &= static_cast<uint8_t>(~taken);
    v.raise_i = 0;
    v.cnt_i = 0;
    v.pulse_a_i = v.pulse_b_i = 0;
    ++now;
  }
  void run(unsigned n) {
    while (n--) cycle();
  }

  struct answer {
    bool error;
    uint64_t data;
  };
  answer access(bool write, uint16_t addr, uint64_t data = 0, uint8_t strobe = 0xff) {
    v.req_i = 1;
    v.write_i = write;
    v.addr_i = addr;
    v.wdata_i = data;
    v.wstrb_i = strobe;
    cycle();
    v.req_i = 0;
    v.clk_i = 0;
    v.eval();
    EXPECT_TRUE(v.ack_o);
    const answer a{bool(v.error_o), v.rdata_o};
    cycle();
    return a;
  }
  uint64_t read(uint16_t addr) {
    const answer a = access(false, addr);
    EXPECT_FALSE(a.error) << std::hex << addr;
    return a.data;
  }
  void write(uint16_t addr, uint64_t data, uint8_t strobe = 0xff) {
    EXPECT_FALSE(access(true, addr, data, strobe).error) << std::hex << addr;
  }

  // Offers one event at source s and waits until it is taken.
  void event(unsigned s, unsigned code, uint64_t info) {
    const uint64_t e = uint64_t{code} << 56 | (uint64_t{s} + 7) << 40 | info;
    v.ev_i[2 * s] = static_cast<uint32_t>(e);
    v.ev_i[2 * s + 1] = static_cast<uint32_t>(e >> 32);
    v.ev_valid_i |= static_cast<uint8_t>(1u << s);
    for (int i = 0; i < 100 && v.ev_valid_i >> s & 1; ++i) cycle();
    EXPECT_FALSE(v.ev_valid_i >> s & 1) << "event not taken";
  }
  void enable_ring(unsigned log2, unsigned vector = 0) {
    write(GGAS_REG_EVQ_BASE, 0x12345000);
    write(GGAS_REG_EVQ_TAIL, 0);
    write(GGAS_REG_EVQ_CTRL, 1 | log2 << 8 | vector << 16);
    run(2);
  }
  void enable_vector(unsigned n) {
    write(static_cast<uint16_t>(GGAS_REG_MSIX_ADDR(n)), 0xfee00000 + 16 * n);
    write(static_cast<uint16_t>(GGAS_REG_MSIX_CTRL(n)), 0x4000 + n);  // unmasked
  }

  Vregs_bench v;
  uint64_t now = 1;
  uint8_t taken = 0;
  std::vector<record> records;
  std::vector<message> messages;
};

TEST_F(regs_test, ResetValues) {
  EXPECT_EQ(read(GGAS_REG_ID), 0x0001'53414747u);
  EXPECT_EQ(read(GGAS_REG_CAPS), 0x0010'4040'0100'0040u);
  EXPECT_EQ(read(GGAS_REG_NODE), 0u);
  EXPECT_EQ(read(GGAS_REG_SMFU_CTRL), 0u);
  EXPECT_EQ(read(GGAS_REG_SMFU_TIMEOUT), 1000u | 500u << 16);
  EXPECT_EQ(read(GGAS_REG_LINK_CTRL), 32u << 8 | 2048u << 16);
  EXPECT_EQ(read(GGAS_REG_EVQ_CTRL), 8u << 8);
  EXPECT_EQ(read(GGAS_REG_MSIX_PBA), 0u);
  for (unsigned i = 0; i < GGAS_MSIX_NUM; ++i) {
    EXPECT_EQ(read(static_cast<uint16_t>(GGAS_REG_MSIX_ADDR(i))), 0u);
    EXPECT_EQ(read(static_cast<uint16_t>(GGAS_REG_MSIX_CTRL(i))), 1ULL << 32) << "masked after reset";
  }
  for (auto& c : regs::counters) EXPECT_EQ(read(c.value), 0u) << c.name;
}

TEST_F(regs_test, WritableFieldsKeepExactlyTheirBits) {
  const std::map<uint16_t, uint64_t> fields = {{GGAS_REG_NODE, 0xffff},
                                               {GGAS_REG_SMFU_CTRL, 7},
                                               {GGAS_REG_SMFU_MASK, ~0ULL},
                                               {GGAS_REG_SMFU_SHIFT, 0xffff003f},
                                               {GGAS_REG_SMFU_TBASE, ~0ULL},
                                               {GGAS_REG_SMFU_TSIZE, ~0ULL},
                                               {GGAS_REG_SMFU_TIMEOUT, 0xffffffff},
                                               {GGAS_REG_LINK_PEER, 0x1ffff},
                                               {GGAS_REG_LINK_CTRL, 0xffffff00},
                                               {GGAS_REG_EVQ_BASE, ~0ULL},
                                               {GGAS_REG_EVQ_CTRL, 0xff1f01},
                                               {GGAS_REG_EVQ_TAIL, 0xffffffff},
                                               {GGAS_REG_MSIX_MODERATION, 0xffffffff}};
  for (auto [addr, mask] : fields) {
    write(addr, ~0ULL);
    EXPECT_EQ(read(addr), mask) << std::hex << addr;
    write(addr, 0, 0x0f);
    EXPECT_EQ(read(addr), mask & 0xffffffff00000000) << std::hex << addr;
    write(addr, 0x1122334455667788, 0xf0);
    EXPECT_EQ(read(addr), mask & 0x1122334400000000) << std::hex << addr;
    write(addr, 0);
    EXPECT_EQ(read(addr), 0u) << std::hex << addr;
  }
}

TEST_F(regs_test, ReadOnlyRegistersIgnoreWrites) {
  for (uint16_t addr :
       {GGAS_REG_ID, GGAS_REG_CAPS, GGAS_REG_LINK_STATUS, GGAS_REG_EVQ_HEAD, GGAS_REG_MSIX_PBA, 0x1000, 0x1238}) {
    const uint64_t before = read(addr);
    write(addr, ~before);
    EXPECT_EQ(read(addr), before) << std::hex << addr;
  }
  v.link_state_i = 2;
  EXPECT_EQ(read(GGAS_REG_LINK_STATUS), 0x5a02u);
  const uint64_t t = read(GGAS_REG_TIME);
  EXPECT_LT(t, now);
  EXPECT_GT(t + 4, now);
}

TEST_F(regs_test, EveryOtherOffsetIsAnError) {
  unsigned found = 0;
  for (uint32_t addr = 0; addr < 0x10000; addr += 8) found += !access(false, static_cast<uint16_t>(addr)).error;
  // 31 own registers (the pending bits are one), 35 counters, 32 event counters, 64 intervals, 256 contexts, 16
  // vectors.
  EXPECT_EQ(found, 31u + 35 + 32 + 64 * 3 + 256 * 6 + 16 * 2);
  EXPECT_TRUE(access(true, 0x0020, 1).error);
  EXPECT_TRUE(access(true, 0x2018, 1).error);
}

TEST_F(regs_test, IntervalAccessesArePassedOn) {
  for (bool write : {false, true}) {
    v.req_i = 1;
    v.write_i = write;
    v.addr_i = GGAS_REG_INTERVAL_TARGET(63);
    v.clk_i = 0;
    v.eval();
    EXPECT_TRUE(v.interval_req_o);
    EXPECT_EQ(v.interval_write_o, write);
    EXPECT_EQ(v.interval_addr_o, 0x2000 + 63 * 32 + 16);
    cycle();
    v.req_i = 0;
    v.interval_rdata_i = 0xabcdef;
    v.clk_i = 0;
    v.eval();
    EXPECT_FALSE(v.interval_req_o);
    EXPECT_EQ(v.rdata_o, 0xabcdefu);
  }
}

// Every write is told as a whole word, and every word reads back; fields that do not exist stay 0.
TEST_F(regs_test, ContextsAreHeldAndTold) {
  std::mt19937_64 rng(5);
  constexpr uint64_t fields = 0x0000'ffff'1f1f'1fff;
  std::map<uint16_t, uint64_t> want;
  for (unsigned c = 0; c < GGAS_CONTEXT_NUM; ++c)
    EXPECT_EQ(read(static_cast<uint16_t>(GGAS_REG_CONTEXT_CTRL(c))), 0u) << "after reset";
  for (int i = 0; i < 5000; ++i) {
    const unsigned vpid = static_cast<unsigned>(rng() % GGAS_CONTEXT_NUM), word = static_cast<unsigned>(rng() % 5);
    const auto addr = static_cast<uint16_t>(GGAS_REG_CONTEXT_CTRL(vpid) + 8 * word);
    const uint8_t strobe = want.contains(addr) ? std::array<uint8_t, 3>{0xff, 0xf0, 0x0f}[rng() % 3] : 0xff;
    const uint64_t mask = (strobe & 1 ? 0xffff'ffff : 0) | (strobe & 0x10 ? 0xffff'ffffull << 32 : 0), data = rng();
    want[addr] = ((want[addr] & ~mask) | (data & mask)) & (word ? ~0ull : fields);
    v.req_i = v.write_i = 1;
    v.addr_i = addr;
    v.wdata_i = data;
    v.wstrb_i = strobe;
    cycle();
    v.req_i = 0;
    v.eval();
    ASSERT_TRUE(v.context_we_o && v.context_vpid_o == vpid && v.context_word_o == word) << vpid << "." << word;
    ASSERT_EQ(v.context_data_o, want[addr]) << vpid << "." << word;
    ASSERT_TRUE(v.busy_o);
    cycle();
    ASSERT_FALSE(v.context_we_o);
  }
  for (auto [addr, data] : want) EXPECT_EQ(read(addr), data) << std::hex << addr;
}

TEST_F(regs_test, ContextStateIsLookedUp) {
  for (unsigned c : {0u, 1u, 137u, 255u})
    for (bool busy : {false, true}) {
      const auto addr = static_cast<uint16_t>(GGAS_REG_CONTEXT_STATE(c));
      v.look_busy_i = busy;
      EXPECT_EQ(read(addr), busy) << c;
      EXPECT_EQ(v.look_vpid_o, c);
      write(addr, ~0ull);
      EXPECT_FALSE(v.context_we_o) << "a write to STATE was told";
    }
}

TEST_F(regs_test, InvalidationIsOnePulse) {
  v.req_i = v.write_i = 1;
  v.addr_i = GGAS_REG_ATU_INVALIDATE;
  v.wdata_i = 0x0000'8123'4567'8003;
  v.wstrb_i = 0xff;
  cycle();
  v.req_i = 0;
  EXPECT_TRUE(v.invalidate_o);
  EXPECT_TRUE(v.busy_o);
  EXPECT_TRUE(v.invalidate_all_o);
  EXPECT_EQ(v.invalidate_page_o, 0x0000'8123'4567'8003u >> 12);
  cycle();
  EXPECT_FALSE(v.invalidate_o);
  EXPECT_EQ(read(GGAS_REG_ATU_STATUS), 0x1'89ab'cdefu);
}

TEST_F(regs_test, RetrainIsOnePulse) {
  v.req_i = 1;
  v.write_i = 1;
  v.addr_i = GGAS_REG_LINK_CTRL;
  v.wdata_i = 0x08002001;
  v.wstrb_i = 0xff;
  cycle();
  v.req_i = 0;
  EXPECT_TRUE(v.retrain_o);
  EXPECT_TRUE(v.busy_o);
  cycle();
  EXPECT_FALSE(v.retrain_o);
  EXPECT_EQ(read(GGAS_REG_LINK_CTRL), 0x08002000u);
}

TEST_F(regs_test, CountersCountEveryPulse) {
  std::mt19937_64 rng(3);
  std::vector<uint64_t> want(regs::counters.size()), events(32);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t c = rng() & rng() & 0x7'fffd'ffff;  // all but MSI-X messages, which count themselves
    const uint32_t a = static_cast<uint32_t>(rng() & rng()), b = static_cast<uint32_t>(rng() & rng());
    v.cnt_i = c;
    v.pulse_a_i = a;
    v.pulse_b_i = b;
    for (unsigned n = 0; n < want.size(); ++n) want[n] += c >> n & 1;
    for (unsigned n = 0; n < 32; ++n) events[n] += (a >> n & 1) + (b >> n & 1);
    cycle();
  }
  for (unsigned n = 0; n < want.size(); ++n)
    EXPECT_EQ(read(regs::counters[n].value), want[n]) << regs::counters[n].name;
  for (unsigned n = 0; n < 32; ++n) EXPECT_EQ(read(regs::event_counter(n)), events[n]) << "code " << n;
}

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
  EXPECT_GT(records.size(), 100u);
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
  v.raise_i = 0xffff;
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
  v.raise_i = 0x00f0;
  run(50);
  v.raise_i = 0xff00;
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
  write(GGAS_REG_MSIX_MODERATION, distance);
  std::mt19937_64 rng(9);
  uint64_t last_raise = 0;
  for (int i = 0; i < 40000; ++i) {
    if (rng() % 500 == 0) {
      v.raise_i = 4;
      last_raise = now;
    }
    cycle();
  }
  v.raise_i = 8;  // another vector is not held up
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

// With moderation a stopped clock makes no difference: the NIC is clocked while busy, and on ticks while timer_o.
TEST_F(regs_test, ModerationWithAGatedClock) {
  enable_vector(2);
  write(GGAS_REG_MSIX_MODERATION, 3000);
  auto play = [&](bool gated) {
    messages.clear();
    now = (now / 102400 + 1) * 102400;  // ticks fall on the same offsets in both runs
    const uint64_t start = now;
    while (now < start + 20000) {
      const uint64_t t = now - start;
      if (t == 10 || t == 500 || t == 4000 || t == 7100) v.raise_i = 4;
      const bool tick = now % 1024 == 0 && v.timer_o;
      if (gated && !v.busy_o && !tick && v.raise_i == 0) {
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
