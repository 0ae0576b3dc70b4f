// SPDX-License-Identifier: Apache-2.0
// ggas_pkg::tlp_beat_t and net_beat_t at the pins of a Verilated module: the header in the low bits, then eop, sop,
// valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggas::test::pins {

enum flag : unsigned { eop, sop, valid };

template <class Beat>
constexpr unsigned header_bits = sizeof(Beat) == 6 * 4 ? 159 : 224;
template <class Beat>
constexpr size_t header_words = (header_bits<Beat> + 31) / 32;

template <class Beat>
bool get(const Beat& b, flag f) {
  const unsigned at = header_bits<Beat> + f;
  return b[at / 32] >> (at % 32) & 1;
}
template <class Beat>
void set(Beat& b, flag f, bool value) {
  const unsigned at = header_bits<Beat> + f;
  const uint32_t bit = uint32_t{1} << (at % 32);
  b[at / 32] = (b[at / 32] & ~bit) | (value ? bit : 0);
}

// The header in whole words: of a TLP the last word has a bit for eop.
template <class Beat, class Header>
void put_header(Beat& b, const Header& h) {
  const bool end = get(b, eop);
  for (size_t i = 0; i < header_words<Beat>; ++i) b[i] = h[i];
  if (header_bits<Beat> % 32) set(b, eop, end);
}
template <class Header, class Beat>
Header get_header(const Beat& b) {
  Header h{};
  for (size_t i = 0; i < header_words<Beat>; ++i) h[i] = b[i];
  if (header_bits<Beat> % 32) h[header_words<Beat> - 1] &= ~uint32_t{0} >> (32 - header_bits<Beat> % 32);
  return h;
}

}  // namespace ggas::test::pins
