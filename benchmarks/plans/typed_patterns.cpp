// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/plans/typed_patterns.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace ggas::bench {

namespace {

constexpr auto element = primitive::float64;

int64_t signed_of(uint64_t v) { return static_cast<int64_t>(v); }
uint64_t sectors(uint64_t from, uint64_t bytes) { return ((from + bytes + 31) / 32 - from / 32) * 32; }

// Rows of `width` elements, `stride` apart.
typed_pattern rows_of(std::string name, uint64_t rows, uint64_t width, uint64_t stride) {
  typed_pattern p{.name = std::move(name),
                  .kind = layout_kind::rows,
                  .type = datatype::vector(signed_of(rows), signed_of(width), signed_of(stride), element),
                  .count = 1,
                  .bytes = rows * width * 8,
                  .extent = ((rows - 1) * stride + width) * 8,
                  .touched = 0,
                  .width = width,
                  .stride = stride,
                  .places = {}};
  if (width == stride) {
    p.touched = p.bytes;
  } else {
    for (uint64_t r = 0; r < std::min<uint64_t>(rows, 32); ++r) p.touched += sectors(r * stride * 8, width * 8);
    p.touched = p.touched * rows / std::min<uint64_t>(rows, 32);
  }
  return p;
}

// The cube has n x n x n elements: its face across z is dense, across y rows, across x elements.
void add_faces(std::vector<typed_pattern>& all, uint64_t n) {
  all.push_back(rows_of("face_xy", n, n, n));
  all.push_back(rows_of("face_xz", n, n, n * n));
  all.push_back(rows_of("face_yz", n * n, 1, n));
}

// Blocks of `width` elements at multiples of four times that, in random order.
typed_pattern list_of(uint64_t bytes, uint64_t width, uint64_t seed) {
  const uint64_t blocks = bytes / 8 / width, apart = std::max<uint64_t>(4 * width, 8);
  std::vector<int64_t> places(blocks);
  std::iota(places.begin(), places.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(places.begin(), places.end(), random);
  for (int64_t& p : places) p *= signed_of(apart);
  return {.name = "indexed_" + std::to_string(width * 8),
          .kind = layout_kind::list,
          .type = datatype::indexed_block(signed_of(width), places, element),
          .count = 1,
          .bytes = blocks * width * 8,
          .extent = blocks * apart * 8,
          .touched = blocks * sectors(0, width * 8),
          .width = width,
          .stride = 0,
          .places = places};
}

// Blocks of 1 ... 7 elements, in their order, with gaps of 1 ... 4.
typed_pattern mixed_list(uint64_t bytes, uint64_t seed) {
  typed_pattern p{.name = "indexed_mixed",
                  .kind = layout_kind::mixed_list,
                  .type = datatype(element),
                  .count = 1,
                  .bytes = 0,
                  .extent = 0,
                  .touched = 0,
                  .width = 1,
                  .stride = 0,
                  .places = {}};
  std::vector<int64_t> lengths, places;
  std::mt19937_64 random(seed);
  uint64_t at = 0;
  for (uint64_t left = bytes / 8; left > 0;) {
    const uint64_t n = std::min<uint64_t>(left, 1 + random() % 7);
    lengths.push_back(signed_of(n));
    places.push_back(signed_of(at));
    for (uint64_t i = 0; i < n; ++i) p.places.push_back(signed_of(at + i));
    p.touched += sectors(at * 8, n * 8);
    p.extent = (at + n) * 8;
    at += n + 1 + random() % 4;
    left -= n;
  }
  p.bytes = bytes / 8 * 8;
  p.type = datatype::indexed(lengths, places, element);
  return p;
}

// A double, two ints and a char, as C lays them out, and with gaps between.
typed_pattern structs(uint64_t bytes, bool spread) {
  const std::array<int64_t, 3> lengths = {1, 2, 1};
  const std::array<int64_t, 3> dense = {0, 8, 16}, apart = {0, 16, 40};
  const std::array<datatype, 3> parts = {primitive::float64, primitive::int32, primitive::int8};
  const uint64_t item = 17, size = spread ? 48 : 24, items = bytes / item / 16 * 16;
  return {.name = spread ? "struct_48" : "struct_24",
          .kind = spread ? layout_kind::spread_structs : layout_kind::structs,
          .type = datatype::resized(datatype::structure(lengths, spread ? apart : dense, parts), 0, signed_of(size)),
          .count = items,
          .bytes = items * item,
          .extent = items * size,
          .touched = items * size,
          .width = 0,
          .stride = 0,
          .places = {}};
}

}  // namespace

std::vector<pattern_run> runs_of(const typed_pattern& p) {
  std::vector<pattern_run> all;
  const bool spread = p.kind == layout_kind::spread_structs;
  if (p.kind == layout_kind::rows)
    for (uint64_t r = 0; r < p.rows(); ++r) all.push_back({r * p.stride * 8, p.width * 8});
  for (const int64_t place : p.places) all.push_back({static_cast<uint64_t>(place) * 8, p.width * 8});
  if (p.kind == layout_kind::structs || spread)
    for (uint64_t i = 0; i < p.count; ++i)
      for (const pattern_run& r : spread ? std::array<pattern_run, 3>{{{0, 8}, {16, 8}, {40, 1}}}
                                         : std::array<pattern_run, 3>{{{0, 8}, {8, 8}, {16, 1}}})
        all.push_back({i * (spread ? 48 : 24) + r.at, r.bytes});
  return all;
}

std::vector<typed_pattern> typed_patterns(uint64_t bytes, uint64_t room, uint64_t seed) {
  std::vector<typed_pattern> all;
  uint64_t n = 1;
  while (4 * n * n * 8 <= bytes) n *= 2;
  if (n * n * 8 == bytes && n >= 16) add_faces(all, n);
  for (const uint64_t width : {1u, 4u, 16u, 32u})
    if (bytes >= width * 8 * 8)
      all.push_back(
          rows_of("vector_" + std::to_string(width * 8), bytes / 8 / width, width, std::max<uint64_t>(4 * width, 8)));
  constexpr uint64_t longest_list = 16u << 20;
  if (bytes <= longest_list) {
    all.push_back(list_of(bytes, 1, seed));
    all.push_back(list_of(bytes, 8, seed));
    all.push_back(mixed_list(bytes, seed));
  }
  all.push_back(structs(bytes, false));
  all.push_back(structs(bytes, true));
  std::erase_if(all, [room](const typed_pattern& p) { return p.extent > room; });
  return all;
}

}  // namespace ggas::bench
