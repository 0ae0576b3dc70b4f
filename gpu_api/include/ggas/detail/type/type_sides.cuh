// SPDX-License-Identifier: Apache-2.0
// One side of a call with datatypes: items of a type at an address, checked, and bytes moved from side to side.
// Included by typed.cuh.
#pragma once

#include "ggas/detail/one_sided/sides.cuh"
#include "ggas/detail/type/fields.cuh"
#include "ggas/detail/type/type_walk.cuh"

namespace ggas::detail {

// The image of a type in the own segment.
struct image_reader {
  const uint64_t* first;
  GGAS_DEVICE uint64_t operator()(uint64_t i) const { return load_own(first + i); }
};

GGAS_DEVICE_FUNCTION type_place find_in_image(const ggas_type& t, const image_reader& image, uint64_t at) {
  return find_by_image(t, image, at);
}

GGAS_DEVICE bool is_committed(const ggas_type& t) {
  const bool sound = (t.generation != 0) & (t.image % 8 == 0) & (t.words < uint64_t{1} << 48) &
                     (t.records <= t.words / record_words) & (t.dimensions <= most_box_dimensions) & (t.unit != 0);
  if (!sound || !fits_segment(t.image, image_header_bytes + 8 * t.words)) return false;
  const auto* const header = reinterpret_cast<const uint64_t*>(device_context().local + t.image);
  return (load_relaxed(header) == t.space) & (load_relaxed(header + 1) == t.generation);
}

struct type_side {
  const ggas_type* type;  // null: packed data
  char* base;             // address of the items, or of packed byte 0
  uint64_t bytes;         // of data
  image_reader image;
  bool dense;  // data lie as packed ones do, from base + skip on
  int64_t skip;

  GGAS_DEVICE bool simple() const { return dense || type->records == 0; }

  // Byte `at` of the packed data. Simple: the side is known to be.
  template <bool Simple>
  GGAS_DEVICE type_place find(uint64_t at) const {
    if (dense) return {static_cast<int64_t>(at) + skip, bytes - at};
    const uint64_t item = at < type->size ? 0 : quotient(at, type->size);
    const uint64_t in_item = at - item * type->size;
    type_place p = Simple || type->records == 0 ? find_in_box(*type, in_item) : find_in_image(*type, image, in_item);
    p.offset = static_cast<int64_t>(static_cast<uint64_t>(p.offset) + item * static_cast<uint64_t>(type->extent));
    return p;
  }
};

GGAS_DEVICE type_side items_at(const void* p, uint64_t count, const ggas_type& t) {
  const bool box = t.records == 0 && t.dimensions == 0;
  const bool dense = box && (count <= 1 || t.extent == static_cast<int64_t>(t.size));
  return {&t,
          const_cast<char*>(static_cast<const char*>(p)),
          count * t.size,
          {reinterpret_cast<const uint64_t*>(device_context().local + t.image + image_header_bytes)},
          dense,
          t.base};
}
// Packed data of which byte `first` lies at p.
GGAS_DEVICE type_side packed_at(const void* p, uint64_t first, uint64_t bytes) {
  return {nullptr,       const_cast<char*>(static_cast<const char*>(p)),
          first + bytes, {nullptr},
          true,          static_cast<int64_t>(0 - first)};
}

// What every place of a side is a multiple of has no lower bit than this.
GGAS_DEVICE uint64_t bits_of(const type_side& s, uint64_t count) {
  const auto base = reinterpret_cast<uintptr_t>(s.base);
  if (!s.type) return base;
  return base | s.type->unit | (count > 1 ? static_cast<uint64_t>(s.type->extent) : 0);
}

// Units of T of a box's packed data from byte `first` on.
template <class T>
struct typed_units {
  const type_side& of;
  uint64_t first;

  GGAS_DEVICE unit_place<T> operator()(uint64_t i) const {
    const type_place p = of.find<true>(first + i * sizeof(T));
    return {reinterpret_cast<T*>(of.base + p.offset), p.left >= sizeof(T)};
  }
};

// Bytes `first` ... of `bytes` between boxes. Two loads are under way: more are much code.
template <origin From, class T>
GGAS_DEVICE bool move_box_units(const type_side& to, const type_side& from, uint64_t first, uint64_t bytes,
                                const movers& by) {
  return move_units_between<2, From, T>(bytes / sizeof(T), by, typed_units<T>{to, first}, typed_units<T>{from, first});
}

// By the widest access that `bits` (of all places and lengths) allow, 4 bytes or more.
template <origin From>
GGAS_DEVICE_FUNCTION bool move_boxes(const type_side& to, const type_side& from, uint64_t first, uint64_t bytes,
                                     uint64_t bits, movers by) {
  if (bits & 4) return move_box_units<From, uint32_t>(to, from, first, bytes, by);
  if (bits & 8) return move_box_units<From, uint64_t>(to, from, first, bytes, by);
  return move_box_units<From, word_pair>(to, from, first, bytes, by);
}

// Moves bytes at ... at + n - 1 of a side's packed data, n <= 16. Each run uses the widest accesses that its address
// allows. Returns false if a byte has no valid address.
template <origin From>
GGAS_DEVICE bool gather(const type_side& s, uint64_t at, unsigned n, word_pair& v) {
  for (unsigned done = 0; done < n;) {
    const type_place p = s.find<false>(at + done);
    if (p.left == 0) return false;
    const char* from = s.base + p.offset;
    if (done == 0 && n == sizeof v && p.left >= n && is_aligned(from)) return v = load_pair<From>(from), true;
    for (unsigned left = p.left < n - done ? static_cast<unsigned>(p.left) : n - done; left > 0;) {
      const unsigned width = field_width(from, left);
      insert_field(v, done, load_field<From>(from, width));
      from += width, done += width, left -= width;
    }
  }
  return true;
}
GGAS_DEVICE bool scatter(const type_side& s, uint64_t at, unsigned n, const word_pair& v) {
  for (unsigned done = 0; done < n;) {
    const type_place p = s.find<false>(at + done);
    if (p.left == 0) return false;
    char* to = s.base + p.offset;
    if (done == 0 && n == sizeof v && p.left >= n && is_aligned(to)) return store_pair(to, v), true;
    for (unsigned left = p.left < n - done ? static_cast<unsigned>(p.left) : n - done; left > 0;) {
      const unsigned width = field_width(to, left);
      store_field(to, width, field_of(v, done));
      to += width, done += width, left -= width;
    }
  }
  return true;
}

// For any two sides. A thread moves 16 bytes of packed data at a time, so it looks up each run in them once, and dense
// data move in words of 16 bytes. Returns false if an image was overwritten and gives an invalid place.
template <origin From>
GGAS_DEVICE_FUNCTION bool move_by_pairs(const type_side& to, const type_side& from, uint64_t first, uint64_t bytes,
                                        movers by) {
  constexpr unsigned pair = sizeof(word_pair);
  bool good = true;
  by.meet();
  for (uint64_t done = uint64_t{by.rank} * pair; good && done < bytes; done += uint64_t{by.count} * pair) {
    const unsigned n = bytes - done < pair ? static_cast<unsigned>(bytes - done) : pair;
    word_pair v{};
    good = gather<From>(from, first + done, n, v) && scatter(to, first + done, n, v);
  }
  return good;
}

// `bits`: bits_of() both sides.
template <origin From>
GGAS_DEVICE bool move_sides(const type_side& to, const type_side& from, uint64_t first, uint64_t bytes, uint64_t bits,
                            const movers& by) {
  if (to.dense && from.dense) {
    const auto at = static_cast<int64_t>(first);
    move_bytes<From>(to.base + to.skip + at, from.base + from.skip + at, bytes, by);
    return true;
  }
  bits |= first | bytes;
  if (to.simple() && from.simple() && bits % 4 == 0) return move_boxes<From>(to, from, first, bytes, bits, by);
  return move_by_pairs<From>(to, from, first, bytes, by);
}

}  // namespace ggas::detail
