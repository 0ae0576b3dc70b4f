// SPDX-License-Identifier: Apache-2.0
// Whole items by the processor, from run to run in their order, without a search. Short runs of the usual lengths are
// moved by loads and stores of that width. For MPI programs (userlib/mpi) and for kernels on `shm`.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "ggas/detail/type/type_handle.hpp"

namespace ggas::detail {

// `words`: of the image after its header; not used where the handle has all runs.
struct walked_items {
  const ggas_type& type;
  const uint64_t* words;
  char* at;
  uint64_t count;
};

namespace walking {

// Addresses may wrap: a place may lie before the address of the items, which may be 0.
inline char* moved_by(char* at, uint64_t bytes) {
  return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(at) + bytes);
}

// More than 128 bytes, by words whose stores are aligned. On AMD's processors memcpy() of glibc 2.36 takes up to 1.7
// times as long for rows of 1,008 bytes that exceed the caches, and 12 times as long for rows of 4 KB to places that
// are not aligned.
void copy_row(char* to, const char* from, uint64_t n);

template <size_t N>
inline void copy(char* to, const char* from, uint64_t) {
  std::memcpy(to, from, N);
}
// At least W bytes, by accesses of W bytes, of which the last two may overlap.
template <size_t W>
[[gnu::always_inline]] inline void copy_overlapping(char* to, const char* from, uint64_t n) {
  char last[W];
  std::memcpy(last, from + n - W, W);
  for (uint64_t i = 0; i + W <= n; i += W) std::memcpy(to + i, from + i, W);
  std::memcpy(to + n - W, last, W);
}
// Any length.
template <>
[[gnu::always_inline]] inline void copy<0>(char* to, const char* from, uint64_t n) {
  if (n > 128)
    copy_row(to, from, n);
  else if (n >= 16)
    copy_overlapping<16>(to, from, n);
  else if (n >= 8)
    copy_overlapping<8>(to, from, n);
  else if (n >= 4)
    copy_overlapping<4>(to, from, n);
  else if (n >= 2)
    copy_overlapping<2>(to, from, n);
  else if (n == 1)
    *to = *from;
}

// f(width) with the width of runs of `n` bytes as a constant; 0: none of its own.
template <class F, size_t... N>
inline void with_one_of(std::index_sequence<N...>, uint64_t n, F f) {
  if (!((n == N && (f(std::integral_constant<size_t, N>()), true)) || ...)) f(std::integral_constant<size_t, 0>());
}
template <class F>
inline void with_width(uint64_t n, F f) {
  with_one_of(std::index_sequence<1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96, 112, 128>(), n, f);
}

template <bool packs>
class walk {
 public:
  walk(const walked_items& i, char* packed) : handle_(i.type), words_(i.words), packed_(packed) {}

  // A part of a list: runs of the handle's length at these places of the item.
  void alike(char* at, const uint64_t* places, uint64_t count) {
    with_width(handle_.run, [&](auto width) {
      this->runs<decltype(width)::value>(handle_.run, count, [=](uint64_t r) { return moved_by(at, places[r]); });
    });
  }
  // Runs of different lengths: run r has bytes(r) at place(r).
  template <class Bytes, class Place>
  void mixed(char* at, uint64_t count, Bytes bytes, Place place) {
    char* packed = packed_;
    for (uint64_t r = 0; r < count; ++r) {
      const uint64_t n = bytes(r);
      packs ? copy<0>(packed, moved_by(at, place(r)), n) : copy<0>(moved_by(at, place(r)), packed, n);
      packed += n;
    }
    packed_ = packed;
  }

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
    const auto move = [&](char* at, char* to) { packs ? copy<N>(to, at, n) : copy<N>(at, to, n); };
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
    box_dimension d[most_box_dimensions + 1];
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

  const uint64_t* look(uint64_t at) const { return words_ + handle_.records * record_words + at; }

  void list(char* at) {
    const uint64_t count = handle_.box[0].count;
    if (handle_.run != 0) return alike(at, look(0), count);
    const box_dimension* const few = handle_.box + 1;
    if (count <= most_handle_runs)
      return mixed(
          at, count, [=](uint64_t r) { return few[r].count; },
          [=](uint64_t r) { return static_cast<uint64_t>(few[r].stride); });
    const uint64_t *const sums = look(0), *const places = look(count + 1);
    mixed(
        at, count, [=](uint64_t r) { return sums[r + 1] - sums[r]; }, [=](uint64_t r) { return places[r]; });
  }
  template <class Block>
  static void indexed(char* at, const uint64_t* sums, const uint64_t* places, uint64_t n, Block block) {
    for (uint64_t i = 0; i < n; ++i) block(moved_by(at, places[i]), sums[i + 1] - sums[i]);
  }

  // `n` children of `size` bytes, `extent` apart; child: their record, or none.
  void block(char* at, uint64_t n, uint64_t size, uint64_t extent, uint64_t child) {
    if (child == no_record) {
      if (size == extent || n == 1) return run<0>(at, n * size);
      return with_width(size, [&](auto width) { strided<decltype(width)::value>(at, size, n, extent); });
    }
    for (uint64_t i = 0; i < n; ++i, at = moved_by(at, extent)) record(child, at);
  }

  void record(uint64_t number, char* at) {
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
};

}  // namespace walking

// All items, to packed data or out of them.
template <bool packs>
void walk_items(const walked_items& i, char* packed) {
  if (i.count > 0) walking::walk<packs>(i, packed).items(i.at, i.count);
}

}  // namespace ggas::detail
