// SPDX-License-Identifier: Apache-2.0
// Register access rules, contexts, pulses and counters.
#include <array>
#include <map>
#include <random>

#include "ggas_reg_names.hpp"
#include "tests/rtl/regs/suite.hpp"

namespace ggas::test {
namespace {

TEST_F(regs_test, ResetValues) {
  EXPECT_EQ(read(GGAS_REG_ID), 0x0001'53414747u);
  EXPECT_EQ(read(GGAS_REG_CAPS), 0x4010'4040'0100'0040u);
  EXPECT_EQ(read(GGAS_REG_BUILD), 64ull << 32 | 1u << 24 | 12u << 16 | 256u);
  EXPECT_EQ(read(GGAS_REG_CLOCK), 125'000u);
  EXPECT_EQ(read(GGAS_REG_SERIAL), 0x0123456789abcdefu);
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
                                               {GGAS_REG_STOP, 1},
                                               {GGAS_REG_SMFU_CTRL, 7},
                                               {GGAS_REG_SMFU_MASK, ~0ULL},
                                               {GGAS_REG_SMFU_SHIFT, 0xffff00ff'ffff003f},
                                               {GGAS_REG_SMFU_TIMEOUT, 0xffffffff},
                                               {GGAS_REG_LINK_PEER, 0x1ffff},
                                               {GGAS_REG_LINK_CTRL, 0xffffff00},
                                               {GGAS_REG_MULTICAST, 0xfff'003fffff},
                                               {GGAS_REG_EVQ_BASE, ~0ULL},
                                               {GGAS_REG_EVQ_CTRL, 0xff1f01},
                                               {GGAS_REG_EVQ_TAIL, 0xffffffff},
                                               {GGAS_REG_FIRED_BASE, ~0ULL},
                                               {GGAS_REG_FIRED_TAIL, 0xffffffff},
                                               {GGAS_REG_MODERATION(0), 0xff'ffffffff},
                                               {GGAS_REG_MODERATION(15), 0xff'ffffffff}};
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
  // 41 single registers (the pending bits count as one), 35 counters, 36 event counters, 256 pieces of tables, 64
  // intervals, 8 groups, 64 exports, 256 contexts, 16 vectors with moderation.
  EXPECT_EQ(found, 41u + 35 + GGAS_EVENT_COUNT_NUM + 256 + 64 * 3 + 8 * 5 + 64 * 4 + 256 * 6 + 16 * 3);
  EXPECT_TRUE(access(true, 0x0050, 1).error);
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

TEST_F(regs_test, PieceAccessesArePassedOn) {
  for (unsigned i : {0u, 255u}) {
    v.req_i = 1;
    v.addr_i = GGAS_REG_ATU_PIECE(i);
    v.eval();
    EXPECT_TRUE(v.piece_req_o);
    EXPECT_EQ(v.interval_addr_o, 0x800 + 8 * i);
    cycle();
    v.req_i = 0;
    v.eval();
    EXPECT_FALSE(v.piece_req_o || v.interval_req_o || v.error_o);
  }
}

// Every write is reported as a whole word, and every word reads back; fields that do not exist stay 0. With CTRL the
// number of starts is reported, too.
TEST_F(regs_test, ContextsAreHeldAndReported) {
  std::mt19937_64 rng(5);
  constexpr uint64_t fields = 0x0000'ffff'1f1f'3fff;
  std::map<uint16_t, uint64_t> want;
  std::array<uint64_t, GGAS_CONTEXT_NUM> starts{};
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
    if (word == 0) starts[vpid] = (starts[vpid] + (want[addr] & 1)) % 32;
    ASSERT_EQ(v.context_data_o, want[addr] | (word ? 0 : starts[vpid] << 48)) << vpid << "." << word;
    ASSERT_TRUE(v.busy_o);
    cycle();
    ASSERT_FALSE(v.context_we_o);
  }
  for (auto [addr, data] : want) EXPECT_EQ(read(addr), data) << std::hex << addr;
}

TEST_F(regs_test, ContextIsStoppedWhenOffAndNotBusy) {
  for (unsigned c : {0u, 1u, 137u, 255u})
    for (bool on : {false, true, false})
      for (bool busy : {false, true}) {
        const auto addr = static_cast<uint16_t>(GGAS_REG_CONTEXT_STATE(c));
        write(static_cast<uint16_t>(GGAS_REG_CONTEXT_CTRL(c)), on);
        v.look_busy_i = busy;
        EXPECT_EQ(read(addr), !on && !busy) << c;
        EXPECT_EQ(v.look_vpid_o, c);
        write(addr, ~0ull);
        EXPECT_FALSE(v.context_we_o) << "a write to STATE was reported";
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
  std::vector<uint64_t> want(regs::counters.size()), events(GGAS_EVENT_COUNT_NUM);
  constexpr uint64_t codes = (uint64_t{1} << GGAS_EVENT_COUNT_NUM) - 1;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t c = rng() & rng() & 0x7'fffd'ffff;  // all but MSI-X messages, which count themselves
    const uint64_t a = rng() & rng() & codes, b = rng() & rng() & codes;
    v.cnt_i = c;
    v.pulse_a_i = a;
    v.pulse_b_i = b;
    for (unsigned n = 0; n < want.size(); ++n) want[n] += c >> n & 1;
    for (unsigned n = 0; n < events.size(); ++n) events[n] += (a >> n & 1) + (b >> n & 1);
    if (i % 7 == 0) {  // a read on the way: without this cycle and the last one
      const unsigned n = unsigned(rng() % (want.size() + events.size())), code = n - unsigned(want.size());
      const bool named = n < want.size();
      const uint64_t got = read(named ? uint16_t(regs::counters[n].value) : uint16_t(regs::event_counter(code)));
      EXPECT_LE(got, named ? want[n] : events[code]);
      EXPECT_GE(got + (named ? 2 : 4), named ? want[n] : events[code]);
    } else {
      cycle();
    }
  }
  for (int i = 0; v.busy_o && i < 300; ++i) cycle();
  EXPECT_FALSE(v.busy_o);
  for (unsigned n = 0; n < want.size(); ++n)
    EXPECT_EQ(read(regs::counters[n].value), want[n]) << regs::counters[n].name;
  for (unsigned n = 0; n < events.size(); ++n) EXPECT_EQ(read(regs::event_counter(n)), events[n]) << "code " << n;
}

}  // namespace
}  // namespace ggas::test
