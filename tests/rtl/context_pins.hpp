// SPDX-License-Identifier: Apache-2.0
// ggas_pkg::context_write_t at the pins of a Verilated module, 76 bits: we, vpid, word, data.
#pragma once

#include <cstdint>

namespace ggas::test::pins {

template <class Write>
void write_context(Write& at, unsigned vpid, unsigned word, uint64_t data) {
  at[0] = static_cast<uint32_t>(data);
  at[1] = static_cast<uint32_t>(data >> 32);
  at[2] = 1u << 11 | (vpid & 0xff) << 3 | (word & 7);
}
template <class Write>
bool is_written(const Write& at) {
  return at[2] >> 11 & 1;
}
template <class Write>
void end_write(Write& at) {
  at[2] &= ~(1u << 11);
}

}  // namespace ggas::test::pins
