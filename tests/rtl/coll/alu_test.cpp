// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the collective unit compared with that of this machine: a pair a cycle, numbers of all kinds close
// to each other, to zero and to infinity.
#include <cmath>
#include <deque>

#include "Vcoll_alu.h"
#include "sim/nic/coll_format.hpp"
#include "tests/rtl/rma/unit/streams.hpp"

namespace ggas::test::coll {
namespace {

constexpr unsigned cycles = 10;  // coll_pkg::ALU_CYCLES

using namespace nic::coll;  // NOLINT: the words of the unit

// Equal bits; of sums that are no numbers the payload may differ.
bool same32(uint32_t a, uint32_t b) {
  return a == b || (std::isnan(std::bit_cast<float>(a)) && std::isnan(std::bit_cast<float>(b)));
}
bool same(unsigned k, uint64_t a, uint64_t b) {
  if (k == float32) return same32(uint32_t(a), uint32_t(b)) && same32(uint32_t(a >> 32), uint32_t(b >> 32));
  const auto nan = [](uint64_t v) { return std::isnan(std::bit_cast<double>(v)); };
  return a == b || (k == float64 && nan(a) && nan(b));
}

// Bits of a floating point number of which exponents are often close to those of others, or at the ends.
uint64_t number(rma::dice& d, unsigned exponent_bits, unsigned mantissa_bits, uint64_t near) {
  const uint64_t all = (uint64_t{1} << exponent_bits) - 1, sign = d.below(2), low = d.bits() % 4;
  uint64_t exponent = d.below(all + 1), mantissa = d.bits() & ((uint64_t{1} << mantissa_bits) - 1);
  switch (d.below(8)) {
    case 0:
      exponent = 0;
      break;
    case 1:
      exponent = all;
      break;
    case 2:
      exponent = all - 1 - low % 2;
      break;
    case 3:
      exponent = low;
      break;
    case 4:
    case 5:
    case 6:
      exponent = std::min(all, near + low);
      break;
    default:
      break;
  }
  switch (d.below(6)) {
    case 0:
      mantissa = 0;
      break;
    case 1:
      mantissa = ~uint64_t{0};
      break;
    case 2:
      mantissa = low;
      break;
    case 3:
      mantissa = uint64_t{1} << d.below(mantissa_bits);
      break;
    default:
      break;
  }
  return sign << (exponent_bits + mantissa_bits) | exponent << mantissa_bits |
         (mantissa & ((uint64_t{1} << mantissa_bits) - 1));
}

uint64_t word(rma::dice& d, unsigned k, uint64_t near) {
  if (k == float64) return number(d, 11, 52, near % 2047);
  if (k == float32) return number(d, 8, 23, near % 255) | number(d, 8, 23, near % 255) << 32;
  return d.chance(30) ? uint64_t(int64_t(d.below(5)) - 2) : d.bits();
}

// A NaN counts as missing, whichever member has it; two of them are one. Zeros have a sign.
TEST(CollAlu, NansAndZerosOfBothSigns) {
  Vcoll_alu v;
  constexpr uint64_t none = 0x7ff8'0000'0000'0000, two = 0x4000'0000'0000'0000, none32 = 0x7fc0'0000,
                     two32 = 0x4000'0000;
  for (unsigned o : {min, max}) {
    const auto expect = [&](unsigned k, uint64_t a, uint64_t b, uint64_t want) {
      v.op_i = uint8_t(o), v.kind_i = uint8_t(k), v.a_i = a, v.b_i = b;
      for (unsigned i = 0; i < cycles; ++i) {
        v.clk_i = 0, v.eval();
        v.clk_i = 1, v.eval();
      }
      EXPECT_EQ(v.out_o, want) << "operation " << o << std::hex << ": " << a << ", " << b;
    };
    expect(float64, none, two, two);
    expect(float64, two, none, two);
    expect(float64, none, none, none);
    for (const bool swapped : {false, true}) {
      const uint64_t minus = uint64_t{1} << 63, want = o == min ? minus : 0;
      expect(float64, swapped ? minus : 0, swapped ? 0 : minus, want);
      expect(float32, swapped ? minus : 0, swapped ? 0 : minus, want);
    }
    expect(float32, none32 << 32 | two32, two32 << 32 | none32, two32 << 32 | two32);
    expect(float32, none32 << 32 | none32, none32 << 32 | two32, none32 << 32 | two32);
  }
  end_model(v);
}

TEST(CollAlu, EveryOperationOnEveryKind) {
  Vcoll_alu v;
  rma::dice d{seed()};
  uint64_t now = 0;
  struct expected {
    uint64_t at, a, b;
  };
  for (unsigned k = int32; k <= float64; ++k) {
    for (unsigned o = sum; o <= bit_xor; ++o) {
      if (!meaningful(o, k)) continue;
      std::deque<expected> under_way;
      const unsigned pairs = o == sum && floating(k) ? 150'000 : 3'000;
      for (unsigned i = 0; i < pairs + cycles; ++i, ++now) {
        v.clk_i = 0, v.op_i = uint8_t(o), v.kind_i = uint8_t(k);
        const uint64_t near = d.bits();
        v.a_i = word(d, k, near), v.b_i = d.chance(3) ? v.a_i ^ uint64_t { 1 } << 63 : word(d, k, near);
        v.eval();
        if (!under_way.empty() && under_way.front().at + cycles == now) {
          const expected e = under_way.front();
          under_way.pop_front();
          ASSERT_TRUE(same(k, v.out_o, combine(o, k, e.a, e.b)))
              << "kind " << k << " op " << o << std::hex << ": " << e.a << ", " << e.b << " gave " << v.out_o
              << ", not " << combine(o, k, e.a, e.b);
        }
        if (i < pairs) under_way.push_back({now, v.a_i, v.b_i});
        v.clk_i = 1;
        v.eval();
      }
      ASSERT_TRUE(under_way.empty());
    }
  }
  end_model(v);
}

}  // namespace
}  // namespace ggas::test::coll
