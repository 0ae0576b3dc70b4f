// SPDX-License-Identifier: Apache-2.0
// Numbers that the environment gives to a test: its seed, and how much a long run of it does.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace ggas::test {

// Decimal; hexadecimal after 0x.
inline uint64_t number_of(const char* name, uint64_t usual) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : usual;
}
inline uint64_t seed() { return number_of("GGAS_SEED", 1); }

}  // namespace ggas::test
