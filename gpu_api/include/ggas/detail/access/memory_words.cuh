// SPDX-License-Identifier: Apache-2.0
// Own memory as words of 8 bytes: whole ones, and at any address, where the last may be short.
#pragma once

#include "ggas/detail/platform/platform.cuh"

namespace ggas::detail {

template <class Word>
struct whole_words {
  Word* at;
  GGAS_DEVICE uint64_t load(uint64_t i) const { return load_own(at + i); }
  GGAS_DEVICE void store(uint64_t i, uint64_t v) const { store_own(at + i, v); }
};
template <class Byte>
struct misaligned_words {
  Byte* at;
  uint64_t bytes;
  GGAS_DEVICE unsigned size_of(uint64_t i) const {
    return bytes - 8 * i < 8 ? static_cast<unsigned>(bytes - 8 * i) : 8;
  }
  GGAS_DEVICE uint64_t load(uint64_t i) const {
    uint64_t v = 0;
    GGAS_NO_UNROLL
    for (unsigned b = 0; b < size_of(i); ++b) v |= uint64_t{load_own(at + 8 * i + b)} << 8 * b;
    return v;
  }
  GGAS_DEVICE void store(uint64_t i, uint64_t v) const {
    GGAS_NO_UNROLL
    for (unsigned b = 0; b < size_of(i); ++b) store_own(at + 8 * i + b, static_cast<uint8_t>(v >> 8 * b));
  }
};

GGAS_DEVICE bool are_whole(const void* p, uint64_t bytes) { return (reinterpret_cast<uintptr_t>(p) | bytes) % 8 == 0; }

}  // namespace ggas::detail
