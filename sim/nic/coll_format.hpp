// SPDX-License-Identifier: Apache-2.0
// Collectives as C++ values: the command of a member (coll_pkg::ask_t and the command word), and the combination of
// elements (docs/coll.md).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "sim/nic/packet.hpp"

namespace ggas::nic::coll {

enum operation : unsigned { sum, min, max, bit_and, bit_or, bit_xor };
enum kind : unsigned { int32, uint32, int64, uint64, float32, float64 };

inline constexpr unsigned groups = 8, most_children = 4, most_words = 32;
inline constexpr unsigned blocks_offset = 0x800, block_bytes = 0x200, blocks = 4;  // in a page of doorbells
inline constexpr uint64_t broken_bit = 1 << 14;                       // of a packet's addr, after the bits of an ask
inline constexpr unsigned result_bytes = 0x100, flag_offset = 0x200;  // after COLL[].RESULT

inline bool floating(unsigned k) { return k >= float32; }
inline bool narrow(unsigned k) { return k == int32 || k == uint32 || k == float32; }
// Bits of a floating point number mean nothing.
inline bool meaningful(unsigned o, unsigned k) {
  return o <= bit_xor && k <= float64 && !(floating(k) && o >= bit_and);
}

struct ask {
  unsigned words = 0, op = sum, kind = int32;
  bool contributes = false, wants = false;
  bool fenced = false;                 // of the command alone
  net_status status = net_status::ok;  // else the whole operation fails

  bool alike(const ask& o) const { return words == o.words && op == o.op && kind == o.kind; }
  uint64_t command() const {
    return words | uint64_t{op} << 8 | uint64_t{kind} << 12 | uint64_t{contributes} << 16 | uint64_t{wants} << 17 |
           uint64_t{fenced} << 18;
  }
  static ask from_command(uint64_t c) {
    ask a{.words = unsigned(c & 63),
          .op = unsigned(c >> 8 & 7),
          .kind = unsigned(c >> 12 & 7),
          .contributes = bool(c >> 16 & 1),
          .wants = bool(c >> 17 & 1),
          .fenced = bool(c >> 18 & 1)};
    const bool breaks_rule = a.words > most_words || (a.contributes && (a.words == 0 || !meaningful(a.op, a.kind)));
    if (breaks_rule) a.status = net_status::bad;
    return a;
  }
  // In packets.
  uint64_t bits() const {
    return words | uint64_t{op} << 6 | uint64_t{kind} << 9 | uint64_t{contributes} << 12 | uint64_t{wants} << 13;
  }
  static ask from_packet(const packet& p) {
    const uint64_t b = p.addr;
    return {.words = unsigned(b & 63),
            .op = unsigned(b >> 6 & 7),
            .kind = unsigned(b >> 9 & 7),
            .contributes = bool(b >> 12 & 1),
            .wants = bool(b >> 13 & 1),
            .status = net_status(p.status)};
  }
};

template <class T, class Bits>
Bits combine_as(unsigned o, Bits a_bits, Bits b_bits) {
  if (o >= bit_and) return o == bit_and ? a_bits & b_bits : o == bit_or ? a_bits | b_bits : a_bits ^ b_bits;
  const T a = std::bit_cast<T>(a_bits), b = std::bit_cast<T>(b_bits);
  if (o != sum && a == b) return o == min ? a_bits | b_bits : a_bits & b_bits;  // zeros have a sign
  if (o != sum) return (o == min ? b < a : a < b) || a != a ? b_bits : a_bits;  // a NaN counts as missing
  if constexpr (std::is_integral_v<T>)
    return Bits(a_bits + b_bits);
  else
    return std::bit_cast<Bits>(T(a + b));
}
inline uint32_t combine32(unsigned o, unsigned k, uint32_t a, uint32_t b) {
  if (k == int32) return combine_as<int32_t>(o, a, b);
  return k == uint32 ? combine_as<uint32_t>(o, a, b) : combine_as<float>(o, a, b);
}
// A word of two elements of 32 bits, or one of 64.
inline uint64_t combine(unsigned o, unsigned k, uint64_t a, uint64_t b) {
  if (narrow(k))
    return combine32(o, k, uint32_t(a), uint32_t(b)) | uint64_t{combine32(o, k, uint32_t(a >> 32), uint32_t(b >> 32))}
                                                           << 32;
  if (k == int64) return combine_as<int64_t>(o, a, b);
  return k == uint64 ? combine_as<uint64_t>(o, a, b) : combine_as<double>(o, a, b);
}

}  // namespace ggas::nic::coll
