// SPDX-License-Identifier: Apache-2.0
// Whole items by the processor, from run to run in their order, without a search. Runs of 1, 2, 4, 8 and 16 bytes are
// moved by loads and stores of that width.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "userlib/mpi/layout/layout.hpp"

namespace ggas::mpi {

namespace walking {

using detail::box_dimension;

// Addresses may wrap: a place may lie before the address of the items, which may be 0.
inline char* moved_by(char* at, uint64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(at) + bytes);
}

// More than 128 bytes, by words of 16 bytes whose stores are aligned. On AMD's processors memcpy() of glibc 2.36 takes
// up to 1.7 times as long for rows of 1,008 bytes that exceed the caches, and 12 times as long for rows of 4 KB to
// places that are not aligned.
inline void copy_row(char* to, const char* from, uint64_t n) {
  using word [[gnu::vector_size(16), gnu::may_alias]] = uint64_t;
  constexpr uint64_t width = sizeof(word), longest = 64 << 10, together = 4;
  if (n > longest) {  // memcpy() may leave the caches alone
    std::memcpy(to, from, n);
    return;
  }
  const auto load = [from](uint64_t at) {
    word v;
    std::memcpy(&v, from + at, width);
    return v;
  };
  const word last = load(n - width);
  std::memcpy(to, from, width);
  uint64_t at = width - reinterpret_cast<uintptr_t>(to) % width;
  const auto store = [to](uint64_t place, word v) { *reinterpret_cast<word*>(to + place) = v; };
  for (; at + together * width <= n; at += together * width) {
    const word a = load(at), b = load(at + width), c = load(at + 2 * width), d = load(at + 3 * width);
    store(at, a), store(at + width, b), store(at + 2 * width, c), store(at + 3 * width, d);
  }
  for (; at + width <= n; at += width) store(at, load(at));
  std::memcpy(to + n - width, &last, width);
}

template <size_t N>
inline void copy(char* to, const char* from, uint64_t, bool = false) {
  std::memcpy(to, from, N);
}
// Any length: short ones inline, by accesses that overlap. `cached`: all data of the call fit in the first cache, where
// memcpy() is fastest.
template <>
[[gnu::always_inline]] inline void copy<0>(char* to, const char* from, uint64_t n, bool cached) {
  const auto ends = [&](auto width) {
    constexpr size_t w = decltype(width)::value;
    char last[w];
    std::memcpy(last, from + n - w, w);
    for (uint64_t i = 0; i + w <= n; i += w) std::memcpy(to + i, from + i, w);
    std::memcpy(to + n - w, last, w);
  };
  if (n > 128)
    cached ? static_cast<void>(std::memcpy(to, from, n)) : copy_row(to, from, n);
  else if (n >= 16)
    ends(std::integral_constant<size_t, 16>());
  else if (n >= 8)
    ends(std::integral_constant<size_t, 8>());
  else if (n >= 4)
    ends(std::integral_constant<size_t, 4>());
  else if (n >= 2)
    ends(std::integral_constant<size_t, 2>());
  else if (n == 1)
    *to = *from;
}

// f(width) with the width of runs of `n` bytes as a constant; 0: none of its own.
template <class F>
inline void with_width(uint64_t n, F f) {
  switch (n) {
    case 1:
      return f(std::integral_constant<size_t, 1>());
    case 2:
      return f(std::integral_constant<size_t, 2>());
    case 4:
      return f(std::integral_constant<size_t, 4>());
    case 8:
      return f(std::integral_constant<size_t, 8>());
    case 12:
      return f(std::integral_constant<size_t, 12>());
    case 16:
      return f(std::integral_constant<size_t, 16>());
    case 24:
      return f(std::integral_constant<size_t, 24>());
    case 32:
      return f(std::integral_constant<size_t, 32>());
    default:
      return f(std::integral_constant<size_t, 0>());
  }
}

template <bool packs>
class walk {
 public:
  walk(const items& i, char* packed)
      : handle_(i.of->handle()), words_(i.of->words().data()), packed_(packed), cached_(i.bytes() <= most_cached) {}

  void items(char* at, uint64_t count) {
    const auto step = static_cast<uint64_t>(handle_.extent);
    if (handle_.records == 0) return box(moved_by(at, static_cast<uint64_t>(handle_.base)), count);
    for (uint64_t i = 0; i < count; ++i, at = moved_by(at, step)) {
      if (handle_.records == 1 && handle_.box[0].count != 0)
        list(at);
      else
        record(0, at);
    }
  }

 private:
  static constexpr uint64_t most_cached = 8 << 10;  // and as many bytes on the other side

  template <size_t N>
  void run(char* at, uint64_t n) {
    packs ? copy<N>(packed_, at, n) : copy<N>(at, packed_, n);
    packed_ += N ? N : n;
  }
  // `count` runs of `n` bytes, each at place(i): short ones four at a time, none of which waits for another one's
  // address.
  template <size_t N, class Place>
  void runs(uint64_t n, uint64_t count, Place place) {
    const uint64_t width = N ? N : n;
    char* packed = packed_;  // not the member, which the bytes written might overlap for all the compiler knows
    const bool cached = cached_;
    const auto move = [&](char* at, char* to) { packs ? copy<N>(to, at, n, cached) : copy<N>(at, to, n, cached); };
    uint64_t i = 0;
    for (; N && i + 4 <= count; i += 4, packed += 4 * width) {
      move(place(i), packed);
      move(place(i + 1), packed + width);
      move(place(i + 2), packed + 2 * width);
      move(place(i + 3), packed + 3 * width);
    }
    for (; i < count; ++i, packed += width) move(place(i), packed);
    packed_ = packed;
  }
  // Runs `stride` apart.
  template <size_t N>
  void strided(char* at, uint64_t n, uint64_t count, uint64_t stride) {
    runs<N>(n, count, [=](uint64_t i) { return moved_by(at, i * stride); });
  }
  // Columns of a matrix in rows, one after another. A column may have more lines of the cache than its first level: so
  // many are moved at once that they share these lines.
  template <size_t N>
  void columns(char* at, const box_dimension& column, const box_dimension& all) {
    constexpr uint64_t together = 8;
    const auto down = static_cast<uint64_t>(column.stride), across = static_cast<uint64_t>(all.stride);
    const uint64_t whole = all.count / together * together, width = column.count * N;
    for (uint64_t c = 0; c < whole; c += together, packed_ += together * width)
      for (uint64_t i = 0; i < column.count; ++i) {
        char *const there = moved_by(at, i * down + c * across), *const packed = packed_ + i * N;
#pragma GCC unroll 8
        for (uint64_t k = 0; k < together; ++k)
          packs ? copy<N>(packed + k * width, moved_by(there, k * across), N)
                : copy<N>(moved_by(there, k * across), packed + k * width, N);
      }
    for (uint64_t c = whole; c < all.count; ++c) strided<N>(moved_by(at, c * across), N, column.count, down);
  }
  static bool are_long_columns(const box_dimension& inner, const box_dimension& outer) {
    constexpr uint64_t many = 256;
    constexpr int64_t line = 64;
    return inner.count >= many && inner.stride >= line && outer.stride > 0 && outer.stride < line;
  }
  template <size_t N>
  void rows(char* at, const box_dimension* d, unsigned dimensions) {
    const auto stride = static_cast<uint64_t>(d[dimensions - 1].stride);
    const uint64_t count = d[dimensions - 1].count;
    if (N && dimensions == 2 && are_long_columns(d[0], d[1])) return columns<N>(at, d[0], d[1]);
    if (dimensions == 1) return strided<N>(at, handle_.run, count, stride);
    for (uint64_t i = 0; i < count; ++i, at = moved_by(at, stride)) rows<N>(at, d, dimensions - 1);
  }

  void piece(char* at, uint64_t n) { packs ? std::memcpy(packed_, at, n) : std::memcpy(at, packed_, n); }

  // The items are one more dimension, or continue the outermost one.
  void box(char* at, uint64_t count) {
    box_dimension d[detail::most_box_dimensions + 1];
    unsigned dimensions = handle_.dimensions;
    std::copy_n(handle_.box, dimensions, d);
    if (dimensions == 0 && (count == 1 || handle_.extent == static_cast<int64_t>(handle_.run)))
      return piece(at, handle_.run * count);
    if (dimensions > 0 && d[dimensions - 1].stride * static_cast<int64_t>(d[dimensions - 1].count) == handle_.extent)
      d[dimensions - 1].count *= count;
    else if (count > 1)
      d[dimensions++] = {count, handle_.extent};
    with_width(handle_.run, [&](auto width) { rows<decltype(width)::value>(at, d, dimensions); });
  }

  const uint64_t* look(uint64_t at) const { return words_ + handle_.records * detail::record_words + at; }

  void list(char* at) {
    const uint64_t count = handle_.box[0].count;
    if (handle_.run == 0) return mixed(at, look(0), look(count + 1), count);
    with_width(handle_.run, [&](auto width) {
      const uint64_t* const places = look(0);
      this->runs<decltype(width)::value>(handle_.run, count, [=](uint64_t r) { return moved_by(at, places[r]); });
    });
  }
  // Runs of different lengths.
  void mixed(char* at, const uint64_t* sums, const uint64_t* places, uint64_t count) {
    char* packed = packed_;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t n = sums[i + 1] - sums[i];
      packs ? copy<0>(packed, moved_by(at, places[i]), n) : copy<0>(moved_by(at, places[i]), packed, n);
      packed += n;
    }
    packed_ = packed;
  }
  template <class Block>
  static void indexed(char* at, const uint64_t* sums, const uint64_t* places, uint64_t n, Block block) {
    for (uint64_t i = 0; i < n; ++i) block(moved_by(at, places[i]), sums[i + 1] - sums[i]);
  }

  // `n` children of `size` bytes, `extent` apart; child: their record, or none.
  void block(char* at, uint64_t n, uint64_t size, uint64_t extent, uint64_t child) {
    if (child == detail::no_record) {
      if (size == extent || n == 1) return run<0>(at, n * size);
      return with_width(size, [&](auto width) { strided<decltype(width)::value>(at, size, n, extent); });
    }
    for (uint64_t i = 0; i < n; ++i, at = moved_by(at, extent)) record(child, at);
  }

  void record(uint64_t number, char* at) {
    using namespace detail;
    const uint64_t* const r = words_ + number * record_words;
    const uint64_t count = r[rec_count], *const aside = look(r[rec_look]);
    const uint64_t child = r[rec_bits] & rec_leaf ? no_record : number + 1;
    const auto copies = [&](char* to, uint64_t n) { block(to, n, r[rec_size], r[rec_extent], child); };
    switch (static_cast<record_kind>(r[rec_bits] & 0xf)) {
      case record_kind::contiguous:
        return copies(at, count);
      case record_kind::vector:
        for (uint64_t i = 0; i < count; ++i) copies(moved_by(at, i * r[rec_stride]), r[rec_blocklength]);
        return;
      case record_kind::indexed_block:
        for (uint64_t i = 0; i < count; ++i) copies(moved_by(at, aside[i]), r[rec_blocklength]);
        return;
      case record_kind::indexed:
        return indexed(at, aside, aside + count + 1, count, copies);
      case record_kind::subarray:
        return subarray(at, aside, count, 0, r[rec_extent], copies);
      case record_kind::structure:
        return structure(at, aside, count);
    }
  }

  // Dimension `d` of `n`: sizes, subsizes and starts. The last dimension's elements are neighbours.
  template <class Block>
  void subarray(char* at, const uint64_t* sizes, uint64_t n, uint64_t d, uint64_t extent, Block block) {
    uint64_t row = extent;
    for (uint64_t k = d + 1; k < n; ++k) row *= sizes[k];
    at = moved_by(at, sizes[2 * n + d] * row);
    if (d + 1 == n) return block(at, sizes[n + d]);
    for (uint64_t i = 0; i < sizes[n + d]; ++i) subarray(moved_by(at, i * row), sizes, n, d + 1, extent, block);
  }

  void structure(char* at, const uint64_t* sums, uint64_t n) {
    const uint64_t *const places = sums + n + 1, *const sizes = places + n, *const extents = sizes + n,
                          *const records = extents + n;
    for (uint64_t i = 0; i < n; ++i)
      if (sums[i + 1] > sums[i])
        block(moved_by(at, places[i]), (sums[i + 1] - sums[i]) / sizes[i], sizes[i], extents[i], records[i]);
  }

  const ggas_type& handle_;
  const uint64_t* words_;
  char* packed_;
  const bool cached_;
};

}  // namespace walking

// All items, to packed data or out of them.
template <bool packs>
void walk_items(const items& i, char* packed) {
  if (i.count > 0) walking::walk<packs>(i, packed).items(i.at, i.count);
}

}  // namespace ggas::mpi
