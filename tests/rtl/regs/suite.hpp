// SPDX-License-Identifier: Apache-2.0
// The register block with a host that reads and writes it, takes records and messages.
#pragma once

#include <gtest/gtest.h>
#include <verilated.h>

#include <cstdint>
#include <vector>

#include "Vregs_bench.h"
#include "ggas_regs.h"
#include "tests/rtl/unit_model.hpp"

namespace ggas::test {

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
  ~regs_test() override { end_model(v); }
  regs_test() {
    v.rst_ni = 0;
    for (int i = 0; i < 4; ++i) v.clk_i = i & 1, v.eval();
    v.clk_i = 0;
    v.rst_ni = 1;
    v.msg_ready_i = v.rec_ready_i = v.msix_enable_i = 1;
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
    v.fire_i = 0;
    v.cnt_i = 0;
    v.pulse_a_i = v.pulse_b_i = 0;
    ++now;
  }
  void fire(unsigned vector) {  // with the next cycle
    v.fire_i = 1;
    v.fire_vector_i = uint8_t(vector);
  }
  void fire_all(unsigned vectors) {
    for (unsigned i = 0; i < 16; ++i)
      if (vectors >> i & 1) fire(i), cycle();
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

}  // namespace ggas::test
