// SPDX-License-Identifier: Apache-2.0
// Layouts that the benchmarks of datatypes move: faces of a cube, vectors, lists, structs. docs/benchmarks.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ggas/type.hpp"

namespace ggas::bench {

// How a kernel written by hand finds the data; numbers in elements of 8 bytes, of structs in items.
enum class layout_kind { rows, list, mixed_list, structs, spread_structs };

struct typed_pattern {
  std::string name;
  layout_kind kind;
  datatype type;
  uint64_t count;                  // items
  uint64_t bytes;                  // of data
  uint64_t extent;                 // bytes from the first to after the last one
  uint64_t touched;                // bytes of the 32-byte sectors that hold data
  uint64_t width = 0, stride = 0;  // rows: of elements, and from one to the next
  std::vector<int64_t> places;     // lists: of blocks of `width`, in elements

  uint64_t rows() const { return bytes / 8 / width; }
};

// The runs of a pattern in their order, found without its datatype: bytes from the first item on.
struct pattern_run {
  uint64_t at, bytes;
};
std::vector<pattern_run> runs_of(const typed_pattern& p);

// The patterns that have about so many bytes of data and whose extents are at most `room`; `seed` orders lists.
std::vector<typed_pattern> typed_patterns(uint64_t bytes, uint64_t room, uint64_t seed);

}  // namespace ggas::bench
