// SPDX-License-Identifier: Apache-2.0
// The bricks of rtl/common against plain C++.
#include <gtest/gtest.h>
#include <unistd.h>

#include <bitset>
#include <deque>
#include <iostream>
#include <random>

#include "Vbricks.h"
#include "tests/rtl/unit_model.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::test {
namespace {

class Bricks : public testing::Test {
 protected:
  Vbricks m;
  std::mt19937_64 rng;

  ~Bricks() override { end_model(m); }
  void SetUp() override {
    std::cout << "seed " << seed() << "\n";
    rng.seed(seed());
    m.clk_i = 0;
    m.rst_ni = 0;
    m.eval();
    m.rst_ni = 1;
    m.eval();
  }
  void edge() {
    m.clk_i = 1;
    m.eval();
    m.clk_i = 0;
    m.eval();
  }
  bool chance(unsigned percent) { return rng() % 100 < percent; }
};

TEST_F(Bricks, Fifo) {
  std::deque<uint16_t> model;
  unsigned full = 0, empty = 0, clears = 0;
  for (int k = 0; k < 50'000; ++k) {
    const unsigned fill = k / 500 % 3 == 0 ? 90 : k / 500 % 3 == 1 ? 10 : 50;
    m.fifo_clear_i = chance(1) && chance(20);
    m.fifo_wr_valid_i = chance(fill);
    m.fifo_wr_data_i = uint16_t(rng());
    m.fifo_rd_ready_i = chance(100 - fill);
    m.eval();
    ASSERT_EQ(m.fifo_count_o, model.size());
    ASSERT_EQ(bool(m.fifo_rd_valid_o), !model.empty());
    ASSERT_EQ(bool(m.fifo_wr_ready_o), model.size() < 8);
    ASSERT_EQ(bool(m.block_rd_valid_o), !model.empty());
    if (!model.empty()) {
      ASSERT_EQ(m.fifo_rd_data_o, model.front());
      ASSERT_EQ(m.block_rd_data_o, model.front());
    }
    full += model.size() == 8;
    empty += model.empty();
    const bool wr = m.fifo_wr_valid_i && m.fifo_wr_ready_o, rd = m.fifo_rd_valid_o && m.fifo_rd_ready_i;
    if (rd) model.pop_front();
    if (wr) model.push_back(m.fifo_wr_data_i);
    if (m.fifo_clear_i) {
      model.clear();
      ++clears;
    }
    edge();
  }
  EXPECT_GT(full, 100u);
  EXPECT_GT(empty, 100u);
  EXPECT_GT(clears, 10u);
}

// Fair (no one waits for more than four others), bound from first beat to end of packet.
TEST_F(Bricks, Arbiter) {
  unsigned owner = 0;  // 0: free
  std::array<unsigned, 5> waiting{};
  std::array<unsigned, 5> packets{};
  for (int k = 0; k < 50'000; ++k) {
    m.arb_req_i = unsigned(rng()) & (k / 1000 % 2 ? 31 : unsigned(rng()) & 31);
    m.arb_take_i = chance(80);
    m.arb_eop_i = chance(40);
    m.arb_clear_i = chance(1);
    m.eval();
    const unsigned g = m.arb_grant_o;
    ASSERT_EQ(g & (g - 1), 0u);
    ASSERT_EQ(g & ~m.arb_req_i, 0u);
    ASSERT_EQ(bool(m.arb_locked_o), owner != 0);
    if (owner)
      ASSERT_EQ(g, owner & m.arb_req_i);
    else
      ASSERT_EQ(g != 0, m.arb_req_i != 0);
    if (m.arb_clear_i) {
      owner = 0;
    } else if (m.arb_take_i && g) {
      if (!owner)
        for (unsigned i = 0; i < 5; ++i) {
          waiting[i] = (m.arb_req_i >> i & 1) && !(g >> i & 1) ? waiting[i] + 1 : 0;
          ASSERT_LE(waiting[i], 4u) << "requester " << i << " starves";
          packets[i] += g >> i & 1;
        }
      owner = m.arb_eop_i ? 0 : g;
    }
    edge();
  }
  for (unsigned n : packets) EXPECT_GT(n, 1000u);
}

TEST_F(Bricks, ArbiterHoldsAnOffer) {
  unsigned offered = 0, held = 0;
  for (int k = 0; k < 20'000; ++k) {
    m.hold_req_i = (unsigned(rng()) & 31) | offered;
    m.hold_ready_i = chance(30);
    m.hold_eop_i = chance(50);
    m.eval();
    if (offered) {
      ASSERT_EQ(m.hold_grant_o, offered);
      ++held;
    }
    offered = m.hold_grant_o && !(m.hold_ready_i && m.hold_eop_i) ? m.hold_grant_o : 0;
    edge();
  }
  EXPECT_GT(held, 5000u);
}

// Packets of random length from three streams: whole, in order, none starved; an offer stands until it is taken.
TEST_F(Bricks, StreamMux) {
  struct stream {
    unsigned beat = 0, beats = 1, waited = 0;
    uint16_t packet = 0;
    bool offered = false;
  };
  std::array<stream, 3> s;
  unsigned owner = 3, held = 0;
  for (int k = 0; k < 50'000; ++k) {
    m.mux_valid_i = m.mux_sop_i = m.mux_eop_i = 0;
    for (unsigned i = 0; i < 3; ++i) {
      s[i].offered = s[i].offered || chance(60);
      m.mux_valid_i |= unsigned(s[i].offered) << i;
      m.mux_sop_i |= unsigned(s[i].beat == 0) << i;
      m.mux_eop_i |= unsigned(s[i].beat + 1 == s[i].beats) << i;
      m.mux_hdr_i = (m.mux_hdr_i & ~(uint64_t{0xffff} << 16 * i)) | uint64_t(uint16_t(s[i].packet << 2 | i)) << 16 * i;
      m.mux_data_i[i] = uint32_t(s[i].packet) << 16 | s[i].beat << 2 | i;
    }
    m.mux_ready_i = chance(70);
    m.eval();
    ASSERT_TRUE(owner == 3 || !m.mux_valid_o || (m.mux_data_o & 3) == owner) << "packets mixed";
    if (m.mux_valid_o) {
      const unsigned i = m.mux_data_o & 3;
      ASSERT_TRUE(s[i].offered);
      ASSERT_EQ(m.mux_hdr_o, uint16_t(s[i].packet << 2 | i));
      ASSERT_EQ(m.mux_data_o >> 2 & 0x3fff, s[i].beat);
      ASSERT_EQ(m.mux_sop_o, s[i].beat == 0);
      ASSERT_EQ(m.mux_eop_o, s[i].beat + 1 == s[i].beats);
      ASSERT_EQ(m.mux_ready_o, unsigned(m.mux_ready_i) << i);
      held += !m.mux_ready_i;
      owner = m.mux_ready_i && m.mux_eop_o ? 3 : i;
      if (m.mux_ready_i) {
        if (s[i].beat == 0)
          for (unsigned o = 0; o < 3; ++o) {
            s[o].waited = o != i && s[o].offered ? s[o].waited + 1 : 0;
            ASSERT_LE(s[o].waited, 2u) << "stream " << o << " starves";
          }
        s[i].offered = false;
        if (++s[i].beat == s[i].beats) {
          s[i].beat = 0;
          s[i].beats = 1 + unsigned(rng() % 5);
          ++s[i].packet;
        }
      }
    } else {
      ASSERT_EQ(m.mux_ready_o, 0u);
    }
    edge();
  }
  EXPECT_GT(held, 5000u);
  for (const stream& x : s) EXPECT_GT(x.packet, 2000u);
}

// What a contract of streams is for: each breach ends the program, and says where.
TEST_F(Bricks, ABreachOfAStreamEndsTheProgram) {
  const auto offer = [&](bool valid, bool sop, uint16_t hdr, uint32_t data, bool ready) {
    m.mux_valid_i = valid;
    m.mux_sop_i = sop;
    m.mux_eop_i = 0;
    m.mux_hdr_i = hdr;
    m.mux_data_i[0] = data;
    m.mux_ready_i = ready;
    m.eval();
    edge();
  };
  const auto breach = [&](bool valid, bool sop, uint16_t hdr, uint32_t data) {
    dup2(STDERR_FILENO, STDOUT_FILENO);  // Verilator's messages
    offer(valid, sop, hdr, data, true);
  };
  const char* const changed = "out_contract.*an offer changed before it was taken";
  offer(true, true, 7, 9, false);
  offer(true, true, 7, 9, false);
  EXPECT_DEATH(breach(false, true, 7, 9), changed);
  EXPECT_DEATH(breach(true, true, 8, 9), changed);
  EXPECT_DEATH(breach(true, true, 7, 8), changed);
  offer(true, true, 7, 9, true);
  EXPECT_DEATH(breach(true, true, 7, 9), "out_contract.*sop and eop do not fit together");
  offer(true, false, 7, 9, true);
}

TEST_F(Bricks, Ram) {
  std::array<uint16_t, 32> model{};
  for (unsigned i = 0; i < 32; ++i) {
    m.ram_we_i = 1;
    m.ram_waddr_i = i;
    m.ram_wdata_i = model[i] = uint16_t(rng());
    m.ram_re_i = 0;
    edge();
  }
  uint16_t out = 0;
  bool known = false;
  unsigned collisions = 0;
  for (int k = 0; k < 20'000; ++k) {
    m.ram_we_i = chance(50);
    m.ram_waddr_i = rng() & 31;
    m.ram_wdata_i = uint16_t(rng());
    m.ram_re_i = chance(70);
    m.ram_raddr_i = chance(20) ? unsigned(m.ram_waddr_i) : unsigned(rng() & 31);
    const bool collision = m.ram_we_i && m.ram_re_i && m.ram_waddr_i == m.ram_raddr_i;
    collisions += collision;
    if (m.ram_re_i) {
      out = collision ? uint16_t(~model[m.ram_raddr_i]) : model[m.ram_raddr_i];  // never the old word
      known = true;
    }
    if (m.ram_we_i) model[m.ram_waddr_i] = m.ram_wdata_i;
    edge();
    if (known) {
      ASSERT_EQ(m.ram_rdata_o, out);
    }
  }
  EXPECT_GT(collisions, 100u);
}

TEST_F(Bricks, Flags) {
  std::bitset<64> one, two;
  unsigned same = 0, clears = 0;
  for (int k = 0; k < 50'000; ++k) {
    if (k % 5000 == 0) {  // a row a cycle
      m.rst_ni = 0;
      for (int i = 0; i < 16; ++i) edge();
      m.rst_ni = 1;
      one.reset(), two.reset();
      ++clears;
    }
    const unsigned a = rng() % 64, b = chance(50) ? a : rng() % 64, r0 = rng() % 64, r1 = chance(50) ? a : rng() % 64;
    m.flag_we_i = uint8_t(rng() & 3);
    m.flag_wdata_i = uint8_t(rng() & 3);
    m.flag_waddr_i = uint16_t(b << 6 | a);
    m.flag_raddr_i = uint16_t(r1 << 6 | r0);
    m.eval();
    ASSERT_EQ(m.flag_one_o, one[r1] << 1 | one[r0]);
    ASSERT_EQ(m.flag_two_o, two[r1] << 1 | two[r0]);
    same += m.flag_we_i == 3 && a == b;
    if (m.flag_we_i & 1) one[a] = m.flag_wdata_i & 1, two[a] = m.flag_wdata_i & 1;
    if (m.flag_we_i & 2) two[b] = m.flag_wdata_i >> 1 & 1;
    edge();
  }
  EXPECT_GT(same, 1000u);
  EXPECT_EQ(clears, 10u);
}

uint32_t crc_bits(uint32_t crc, const std::array<uint32_t, 16>& data, unsigned bits) {
  for (unsigned i = 0; i < bits; ++i) crc = (crc >> 1) ^ (((crc ^ data[i / 32] >> i % 32) & 1) ? 0xEDB88320u : 0);
  return crc;
}

TEST_F(Bricks, Crc) {
  for (int k = 0; k < 3000; ++k) {
    std::array<uint32_t, 16> data{};
    const uint32_t crc = uint32_t(rng());
    for (auto& w : data) w = uint32_t(rng());
    if (k < 512) {  // every single bit alone, too
      data = {};
      data[k / 32] = 1u << k % 32;
    }
    m.crc_i = crc;
    for (unsigned i = 0; i < 16; ++i) m.crc_data_i[i] = data[i];
    m.crc_en_i = 1;
    m.eval();
    ASSERT_EQ(m.crc_32_o, crc_bits(crc, data, 32));
    ASSERT_EQ(m.crc_64_o, crc_bits(crc, data, 64));
    ASSERT_EQ(m.crc_256_o, crc_bits(crc, data, 256));
    ASSERT_EQ(m.crc_512_o, crc_bits(crc, data, 512));
  }
  // The check value of CRC-32: "123456789" is 0xCBF43926; its first eight bytes fit the 64-bit variant.
  m.crc_i = ~0u;
  m.crc_data_i[0] = 0x34333231;
  m.crc_data_i[1] = 0x38373635;
  m.eval();
  EXPECT_EQ(~m.crc_64_o, 0x9AE0DAAFu);
}

}  // namespace
}  // namespace ggas::test
