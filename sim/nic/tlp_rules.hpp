// SPDX-License-Identifier: Apache-2.0
// The rules every memory TLP obeys (docs/tlp-boundary.md, invariant 6) and the arithmetic of completions.
#pragma once

#include <cstdint>

#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

inline constexpr uint64_t page_bytes = 4096;
inline constexpr unsigned bar_registers = 0, bar_window = 2, bar_pages = 4;

// Byte enables as PCIe has them: none (a zero-length access) only at length 1, holes only at length 1, or 2 on 8 bytes.
inline bool enables_allowed(unsigned len_dw, uint64_t addr, unsigned first_be, unsigned last_be) {
  if (len_dw == 1) return last_be == 0;
  if (first_be == 0 || last_be == 0) return false;
  if (len_dw == 2 && addr % 8 == 0) return true;
  const bool first_ok = first_be == 0x8 || first_be == 0xc || first_be == 0xe || first_be == 0xf;
  return first_ok && (last_be == 0x1 || last_be == 0x3 || last_be == 0x7 || last_be == 0xf);
}

// First rule the request breaks, or nullptr.
inline const char* broken_rule(const pcie::tlp& t) {
  if (t.len_dw == 0 || t.len_dw > 1024) return "length is 1 to 1024 DW";
  if (t.has_data() && t.data.size() != t.len_dw) return "payload is as long as the header says";
  if (t.addr % page_bytes + 4u * t.len_dw > page_bytes) return "no request crosses a 4 KB border";
  if (!enables_allowed(t.len_dw, t.addr, t.first_be, t.last_be))
    return "byte enables without holes, the last 0 at length 1";
  if (t.addr % 4) return "the address is a multiple of 4";
  if (t.poisoned) return "not poisoned";
  return nullptr;
}

// A read of the pages that is one of QUIET.
inline bool asks_quiet(const pcie::tlp& t) {
  const bool dw = t.len_dw == 1 && t.first_be == 0xf, two = t.len_dw == 2 && t.first_be == 0xf && t.last_be == 0xf;
  return t.kind == pcie::tlp_kind::mrd && t.addr % (2 * page_bytes) == 0 && (dw || two);
}

// A write into the second page of a context, where descriptors go.
inline bool writes_descriptor(const pcie::tlp& t) {
  return t.kind == pcie::tlp_kind::mwr && t.bar == bar_pages && t.addr % (2 * page_bytes) >= page_bytes;
}

inline unsigned lowest_bit(unsigned be) { return be & 1 ? 0 : be & 2 ? 1 : be & 4 ? 2 : be & 8 ? 3 : 0; }
inline unsigned highest_bit(unsigned be) { return be & 8 ? 3 : be & 4 ? 2 : be & 2 ? 1 : 0; }

// Byte enables of DW i of a request.
inline unsigned byte_enables(unsigned len_dw, unsigned first_be, unsigned last_be, unsigned i) {
  return i == 0 ? first_be : i + 1 == len_dw ? last_be : 0xfu;
}
inline unsigned byte_enables(const pcie::tlp& t, unsigned i) {
  return byte_enables(t.len_dw, t.first_be, t.last_be, i);
}

// Bytes between the first and the last enabled one; 1 for a zero-length read (PCIe 2.2.9).
inline unsigned request_bytes(const pcie::tlp& t) {
  if (t.len_dw == 1) return t.first_be ? highest_bit(t.first_be) - lowest_bit(t.first_be) + 1 : 1;
  return 4u * t.len_dw - lowest_bit(t.first_be) - (3 - highest_bit(t.last_be));
}

// byte_count of the completion that begins with DW `dw` of the request.
inline unsigned bytes_left(const pcie::tlp& t, unsigned dw) {
  return dw == 0 ? request_bytes(t) : request_bytes(t) - (4 * dw - lowest_bit(t.first_be));
}

inline uint8_t lower_address(const pcie::tlp& t, unsigned dw) {
  return uint8_t((t.addr + 4 * dw + (dw == 0 ? lowest_bit(t.first_be) : 0)) & 0x7f);
}

}  // namespace ggas::nic
