// SPDX-License-Identifier: Apache-2.0
// MPI's rules of datatypes in their simplest form: a list of every primitive with its place. Random constructors make a
// datatype and its list at the same time.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <vector>

#include "ggas/type.hpp"
#include "tests/support/number_of.hpp"

namespace ggas::types_test {

struct flat {
  struct entry {
    primitive of;
    int64_t at;
  };
  std::vector<entry> entries;
  std::optional<std::pair<int64_t, int64_t>> bounds;  // that were given

  flat() = default;
  explicit flat(primitive p) : entries{{p, 0}} {}

  // A copy of another one, `at` bytes on.
  void add(const flat& f, int64_t at) {
    for (const entry& e : f.entries) entries.push_back({e.of, e.at + at});
    if (!f.bounds) return;
    const int64_t low = f.bounds->first + at, high = f.bounds->second + at;
    bounds = bounds ? std::pair(std::min(bounds->first, low), std::max(bounds->second, high)) : std::pair(low, high);
  }
  void add_block(const flat& f, int64_t at, int64_t copies) {
    const int64_t step = f.extent();
    for (int64_t i = 0; i < copies; ++i) add(f, at + i * step);
  }

  uint64_t size() const {
    uint64_t n = 0;
    for (const entry& e : entries) n += size_of(e.of);
    return n;
  }
  int64_t true_lb() const {
    int64_t v = entries.empty() ? 0 : entries[0].at;
    for (const entry& e : entries) v = std::min(v, e.at);
    return v;
  }
  int64_t true_ub() const {
    int64_t v = entries.empty() ? 0 : entries[0].at + static_cast<int64_t>(size_of(entries[0].of));
    for (const entry& e : entries) v = std::max(v, e.at + static_cast<int64_t>(size_of(e.of)));
    return v;
  }
  int64_t lb() const { return bounds ? bounds->first : true_lb(); }
  int64_t extent() const {
    if (bounds) return bounds->second - bounds->first;
    int64_t align = 1;
    for (const entry& e : entries) {
      const bool two = e.of == primitive::complex64 || e.of == primitive::complex128;
      align = std::max(align, static_cast<int64_t>(size_of(e.of)) / (two ? 2 : 1));
    }
    return (true_ub() - true_lb() + align - 1) / align * align;
  }
  // Place of every byte, in the order of packed data, of `count` items.
  std::vector<int64_t> places(uint64_t count = 1) const {
    std::vector<int64_t> all;
    const int64_t step = extent();
    for (uint64_t i = 0; i < count; ++i)
      for (const entry& e : entries)
        for (uint64_t b = 0; b < size_of(e.of); ++b)
          all.push_back(e.at + static_cast<int64_t>(i) * step + static_cast<int64_t>(b));
    return all;
  }
};

struct both {
  datatype type;
  flat list;
};

// Datatypes at random: nested, blocks of length 0, negative strides and bounds, primitives of all sizes.
class random_types {
 public:
  explicit random_types(uint64_t seed) : random_(seed) {}

  uint64_t below(uint64_t n) { return random_() % n; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }
  both primitive_type() {
    const auto p = static_cast<primitive>(below(primitives));
    return {p, flat(p)};
  }
  both next(int depth) {
    if (depth <= 0) return primitive_type();
    switch (below(10)) {
      case 0:
        return contiguous(next(depth - 1));
      case 1:
      case 2:
        return vector(next(depth - 1));
      case 3:
      case 4:
        return indexed(next(depth - 1));
      case 5:
        return indexed_block(next(depth - 1));
      case 6:
      case 7:
        return structure(depth);
      case 8:
        return subarray(next(depth - 1));
      default:
        return bounds(next(depth - 1));
    }
  }
  // One whose list has 1 ... `most` entries, none of which lie in the same place.
  both usable(int depth, size_t most) {
    for (;;) {
      both b = next(depth);
      if (!b.list.entries.empty() && b.list.entries.size() <= most && !overlaps(b.list)) return b;
    }
  }
  // Two bytes lie in the same place: no one may receive into that.
  static bool overlaps(const flat& f, uint64_t count = 1) {
    std::vector<int64_t> all = f.places(count);
    std::sort(all.begin(), all.end());
    return std::adjacent_find(all.begin(), all.end()) != all.end();
  }

 private:
  // Lists grow fast: short blocks of long ones.
  int64_t few(const both& of, int64_t most) { return between(0, of.list.entries.size() > 100 ? 1 : most); }
  int64_t stride(const both& of) {
    const int64_t e = std::abs(of.list.extent()) + 1;
    return between(-3 * e, 3 * e);
  }

  both contiguous(const both& of) {
    const int64_t n = few(of, 5);
    flat f;
    f.add_block(of.list, 0, n);
    return {datatype::contiguous(n, of.type), f};
  }
  both vector(const both& of) {
    const int64_t n = few(of, 4), length = few(of, 3);
    const bool bytes = below(2) == 0;
    const int64_t step = bytes ? stride(of) : between(-5, 5);
    flat f;
    for (int64_t i = 0; i < n; ++i) f.add_block(of.list, i * step * (bytes ? 1 : of.list.extent()), length);
    return {bytes ? datatype::hvector(n, length, step, of.type) : datatype::vector(n, length, step, of.type), f};
  }
  both indexed(const both& of) {
    const bool bytes = below(2) == 0;
    std::vector<int64_t> lengths, places;
    flat f;
    for (uint64_t i = below(5); i > 0; --i) {
      lengths.push_back(few(of, 3));
      places.push_back(bytes ? stride(of) * 3 : between(-12, 12));
      f.add_block(of.list, places.back() * (bytes ? 1 : of.list.extent()), lengths.back());
    }
    return {bytes ? datatype::hindexed(lengths, places, of.type) : datatype::indexed(lengths, places, of.type), f};
  }
  both indexed_block(const both& of) {
    const bool bytes = below(2) == 0;
    const int64_t length = few(of, 2);
    std::vector<int64_t> places;
    flat f;
    for (uint64_t i = below(5); i > 0; --i) {
      places.push_back(bytes ? stride(of) * 3 : between(-12, 12));
      f.add_block(of.list, places.back() * (bytes ? 1 : of.list.extent()), length);
    }
    return {
        bytes ? datatype::hindexed_block(length, places, of.type) : datatype::indexed_block(length, places, of.type),
        f};
  }
  both structure(int depth) {
    std::vector<int64_t> lengths, places;
    std::vector<datatype> children;
    flat f;
    for (uint64_t i = below(4); i > 0; --i) {
      const both c = next(static_cast<int>(below(static_cast<uint64_t>(depth))));
      lengths.push_back(few(c, 2));
      places.push_back(between(-400, 400));
      children.push_back(c.type);
      f.add_block(c.list, places.back(), lengths.back());
    }
    return {datatype::structure(lengths, places, children), f};
  }
  both subarray(const both& of) {
    const auto dimensions = static_cast<size_t>(1 + below(of.list.entries.size() > 20 ? 2 : 6));
    const array_order order = below(2) == 0 ? array_order::c : array_order::fortran;
    std::vector<int64_t> sizes, parts, starts;
    for (size_t d = 0; d < dimensions; ++d) {
      sizes.push_back(between(1, 3));
      parts.push_back(between(1, sizes.back()));
      starts.push_back(between(0, sizes.back() - parts.back()));
    }
    flat f;
    int64_t all = 1, copies = 1;
    for (size_t d = 0; d < dimensions; ++d) all *= sizes[d], copies *= parts[d];
    const auto fast = [&](size_t k) { return order == array_order::c ? dimensions - 1 - k : k; };  // k-th fastest
    for (int64_t i = 0; i < copies; ++i) {
      int64_t left = i, at = 0, row = 1;
      for (size_t k = 0; k < dimensions; ++k) {
        const size_t d = fast(k);
        at += (starts[d] + left % parts[d]) * row;
        left /= parts[d];
        row *= sizes[d];
      }
      f.add(of.list, at * of.list.extent());
    }
    f.bounds = {0, all * of.list.extent()};
    return {datatype::subarray(sizes, parts, starts, order, of.type), f};
  }
  both bounds(const both& of) {
    if (below(4) == 0) return {datatype::dup(of.type), of.list};
    const int64_t lb = between(-60, 20), extent = between(-100, 300);
    flat f = of.list;
    f.bounds = {lb, lb + extent};
    return {datatype::resized(of.type, lb, extent), f};
  }

  std::mt19937_64 random_;
};

using test::number_of, test::seed;
inline uint64_t rounds(uint64_t usual) { return number_of("GGAS_TEST_SEQUENCES", usual); }

}  // namespace ggas::types_test
