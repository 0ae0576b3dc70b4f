// SPDX-License-Identifier: Apache-2.0
// A NIC with 16 contexts: the registers of the others read 0, and writes to them reach no unit. It counts no events.
#include <gtest/gtest.h>
#include <verilated.h>

#include "Vregs_bench_16.h"
#include "ggas_reg_names.hpp"
#include "ggas_regs.h"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test {
namespace {

constexpr unsigned contexts = 16;

class few_contexts : public testing::Test {
 protected:
  ~few_contexts() override { end_model(v); }
  few_contexts() {
    v.rst_ni = 0;
    for (int i = 0; i < 4; ++i) v.clk_i = i & 1, v.eval();
    v.rst_ni = 1;
    edge();
  }
  void edge() {
    v.clk_i = 0;
    v.eval();
    v.clk_i = 1;
    v.eval();
  }
  uint64_t access(bool write, unsigned context, unsigned word, uint64_t data = 0) {
    return access_at(write, static_cast<uint16_t>(GGAS_REG_CONTEXT_CTRL(context) + 8 * word), data);
  }
  uint64_t access_at(bool write, uint16_t address, uint64_t data = 0) {
    v.req_i = 1;
    v.write_i = write;
    v.addr_i = address;
    v.wdata_i = data;
    v.wstrb_i = 0xff;
    edge();
    v.req_i = 0;
    v.clk_i = 0;
    v.eval();
    reported = v.context_we_o;
    EXPECT_FALSE(v.error_o);
    const uint64_t got = v.rdata_o;
    edge();
    return got;
  }
  Vregs_bench_16 v;
  bool reported = false;  // the write went to the units
};

TEST_F(few_contexts, OnlyTheseCanBeWritten) {
  for (unsigned c = 0; c < 256; ++c) {
    access(true, c, 1, 0x1000 * (c + 1));
    EXPECT_EQ(reported, c < contexts) << c;
    if (reported) {
      EXPECT_EQ(v.context_vpid_o, c);
    }
  }
  for (unsigned c = 0; c < 256; ++c) EXPECT_EQ(access(false, c, 1), c < contexts ? 0x1000 * (c + 1) : 0) << c;
}

TEST_F(few_contexts, TheOthersAreNeverEnabledOrBusy) {
  v.look_busy_i = 1;
  for (unsigned c : {0u, 15u, 16u, 31u, 255u}) {
    access(true, c, 0, 1);
    EXPECT_EQ(reported, c < contexts) << c;
    EXPECT_EQ(access(false, c, 0), c < contexts ? 1u : 0u) << c;
    EXPECT_EQ(access(false, c, GGAS_REG_CONTEXT_STATE(0) / 8 - GGAS_REG_CONTEXT_CTRL(0) / 8), c < contexts ? 0u : 1u)
        << c;
  }
}

TEST_F(few_contexts, CountersOfEventsStayZero) {
  v.cnt_i = 1;
  v.pulse_a_i = v.pulse_b_i = 2;
  for (int i = 0; i < 500; ++i) edge();
  v.cnt_i = v.pulse_a_i = v.pulse_b_i = 0;
  for (int i = 0; i < 500; ++i) edge();
  EXPECT_EQ(access_at(false, uint16_t(regs::counters[0].value)), 500u);
  for (unsigned code = 0; code < GGAS_EVENT_COUNT_NUM; ++code)
    EXPECT_EQ(access_at(false, uint16_t(GGAS_REG_EVENT_COUNT(code))), 0u) << code;
}

}  // namespace
}  // namespace ggas::test
