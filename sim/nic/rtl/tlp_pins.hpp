// SPDX-License-Identifier: Apache-2.0
// TLP headers and payload words at the pins of a Verilated module: ggas_pkg::tlp_hdr_t and beats of W bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/pcie/tlp.hpp"

namespace ggas::nic::pins {

// ggas_pkg::tlp_hdr_t, 159 bits; `poisoned` is bit 0.
template <class Wide>
void pack(const pcie::tlp& t, Wide& out) {
  const uint64_t lo = uint64_t{t.poisoned} | uint64_t{t.attr} << 1 | uint64_t{t.lower_addr} << 4 |
                      uint64_t{t.byte_count} << 11 | uint64_t{static_cast<uint8_t>(t.status)} << 24 |
                      uint64_t{t.completer} << 27 | uint64_t{t.requester} << 43 | uint64_t{t.tag} << 59;
  const uint64_t mid = uint64_t{t.tag} >> 5 | uint64_t{t.last_be} << 5 | uint64_t{t.first_be} << 9 |
                       uint64_t{t.len_dw} << 13 | t.addr << 24;
  out[0] = static_cast<uint32_t>(lo);
  out[1] = static_cast<uint32_t>(lo >> 32);
  out[2] = static_cast<uint32_t>(mid);
  out[3] = static_cast<uint32_t>(mid >> 32);
  out[4] = static_cast<uint32_t>(t.addr >> 40) | uint32_t{t.bar} << 24 | uint32_t{static_cast<uint8_t>(t.kind)} << 27;
}

template <class Wide>
pcie::tlp unpack(const Wide& in) {
  const uint64_t lo = in[0] | uint64_t{in[1]} << 32;
  const uint64_t mid = in[2] | uint64_t{in[3]} << 32;
  pcie::tlp t;
  t.poisoned = lo & 1;
  t.attr = lo >> 1 & 7;
  t.lower_addr = lo >> 4 & 0x7f;
  t.byte_count = lo >> 11 & 0x1fff;
  t.status = static_cast<pcie::cpl_status>(lo >> 24 & 7);
  t.completer = static_cast<uint16_t>(lo >> 27);
  t.requester = static_cast<uint16_t>(lo >> 43);
  t.tag = static_cast<uint16_t>((lo >> 59 | mid << 5) & 0x3ff);
  t.last_be = mid >> 5 & 0xf;
  t.first_be = mid >> 9 & 0xf;
  t.len_dw = mid >> 13 & 0x7ff;
  t.addr = mid >> 24 | (uint64_t{in[4]} & 0xffffff) << 40;
  t.bar = in[4] >> 24 & 7;
  t.kind = static_cast<pcie::tlp_kind>(in[4] >> 27 & 0xf);
  return t;
}

// A beat or flit of W bits: one QData at 64, else a VlWide.
template <unsigned W, class Port>
void put_words(Port& port, const uint32_t* dw, size_t n) {
  if constexpr (W == 64) {
    port = (n > 0 ? dw[0] : 0) | uint64_t{n > 1 ? dw[1] : 0} << 32;
  } else {
    for (size_t i = 0; i < W / 32; ++i) port[i] = i < n ? dw[i] : 0;
  }
}

template <unsigned W, class Port>
uint32_t get_word(const Port& port, size_t i) {
  if constexpr (W == 64) {
    return static_cast<uint32_t>(port >> (32 * i));
  } else {
    return port[i];
  }
}

}  // namespace ggas::nic::pins
