// SPDX-License-Identifier: Apache-2.0
// The rules every memory TLP obeys (docs/tlp-boundary.md, invariant 6) and the arithmetic of completions.
#pragma once

#include <cstdint>

#include "sim/pcie/tlp.hpp"

namespace ggas::nic {

// First rule the request breaks, or nullptr.
inline const char* broken_rule(const pcie::tlp& t) {
  if (t.len_dw == 0 || t.len_dw > 1024) return "length is 1 to 1024 DW";
  if (t.has_data() && t.data.size() != t.len_dw) return "payload is as long as the header says";
  if ((t.addr & 0xfff) + 4u * t.len_dw > 4096) return "no request crosses a 4 KB border";
  if (t.len_dw == 1 && t.last_be != 0) return "last byte enables are 0 when the length is 1 DW";
  if (t.len_dw > 1 && (t.first_be == 0 || t.last_be == 0))
    return "byte enables are not 0 when the length is above 1 DW";
  const bool holes_allowed = t.len_dw == 1 || (t.len_dw == 2 && t.addr % 8 == 0);
  const bool first_ok = t.first_be == 0x8 || t.first_be == 0xc || t.first_be == 0xe || t.first_be == 0xf;
  const bool last_ok = t.last_be == 0x1 || t.last_be == 0x3 || t.last_be == 0x7 || t.last_be == 0xf;
  if (!holes_allowed && !(first_ok && last_ok)) return "byte enables have no holes";
  if (t.addr % 4) return "the address is a multiple of 4";
  if (t.poisoned) return "not poisoned";
  return nullptr;
}

inline unsigned lowest_bit(unsigned be) { return be & 1 ? 0 : be & 2 ? 1 : be & 4 ? 2 : be & 8 ? 3 : 0; }
inline unsigned highest_bit(unsigned be) { return be & 8 ? 3 : be & 4 ? 2 : be & 2 ? 1 : 0; }

// Byte enables of DW i of a request.
inline unsigned byte_enables(const pcie::tlp& t, unsigned i) {
  return i == 0 ? t.first_be : i + 1u == t.len_dw ? t.last_be : 0xfu;
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
