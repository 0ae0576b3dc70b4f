// SPDX-License-Identifier: Apache-2.0
// Fields of 1, 2, 4 and 8 bytes of items, and up to 16 bytes of packed data assembled from them. Included by
// type_sides.cuh and move_items.cuh.
#pragma once

#include "ggas/detail/access/move.cuh"

namespace ggas::detail {

// The widest access at `p` within `left` bytes.
GGAS_DEVICE unsigned field_width(const char* p, unsigned left) {
  const auto seen = static_cast<unsigned>(reinterpret_cast<uintptr_t>(p)) | 8;
  unsigned width = seen & (0 - seen);
  while (width > left) width /= 2;
  return width;
}

// No branches: one of the four is done.
template <origin From>
GGAS_DEVICE uint64_t load_field(const char* p, unsigned bytes) {
  uint64_t v = 0;
  if (bytes == 8) v = load_from<From>(reinterpret_cast<const uint64_t*>(p));
  if (bytes == 4) v = load_from<From>(reinterpret_cast<const uint32_t*>(p));
  if (bytes == 2) v = load_from<From>(reinterpret_cast<const uint16_t*>(p));
  if (bytes == 1) v = load_from<From>(reinterpret_cast<const uint8_t*>(p));
  return v;
}
GGAS_DEVICE void store_field(char* p, unsigned bytes, uint64_t v) {
  if (bytes == 8) store_relaxed(reinterpret_cast<uint64_t*>(p), v);
  if (bytes == 4) store_relaxed(reinterpret_cast<uint32_t*>(p), static_cast<uint32_t>(v));
  if (bytes == 2) store_relaxed(reinterpret_cast<uint16_t*>(p), static_cast<uint16_t>(v));
  if (bytes == 1) store_relaxed(reinterpret_cast<uint8_t*>(p), static_cast<uint8_t>(v));
}

GGAS_DEVICE bool is_aligned(const char* p) { return reinterpret_cast<uintptr_t>(p) % sizeof(word_pair) == 0; }
template <origin From>
GGAS_DEVICE word_pair load_pair(const char* p) {
  return load_from<From>(reinterpret_cast<const word_pair*>(p));
}
GGAS_DEVICE void store_pair(char* p, const word_pair& v) { store_relaxed(reinterpret_cast<word_pair*>(p), v); }

// Byte `at` of a pair, and up to seven after it, in the low byte and those above. Bytes after the pair are zero.
GGAS_DEVICE uint64_t field_of(const word_pair& v, unsigned at) {
  const unsigned shift = at % 8 * 8;
  if (at >= 8) return v.hi >> shift;
  return shift == 0 ? v.lo : v.lo >> shift | v.hi << (64 - shift);
}
// Its bytes from `at` on, which were zero.
GGAS_DEVICE void insert_field(word_pair& v, unsigned at, uint64_t field) {
  const unsigned shift = at % 8 * 8;
  if (at >= 8) {
    v.hi |= field << shift;
    return;
  }
  v.lo |= field << shift;
  if (shift != 0) v.hi |= field >> (64 - shift);
}

}  // namespace ggas::detail
