// SPDX-License-Identifier: Apache-2.0
// Addresses of the units of packed data, without a division: for kernels of on-stream calls with a box or a list of
// equal runs, computed by the host (gpu_api/types/places.cpp). For host and kernels.
#pragma once

#include <optional>

#include "ggas/detail/type/type_handle.hpp"

namespace ggas::detail {

// Division of numbers below 2^31 by 2 ... 2^31: the high half of a product, shifted. With l = log2 of the divisor,
// rounded up, `factor` is 2^(31 + l) / divisor, rounded up. The rounding error is less than 2^l, so the quotient is
// exact.
struct divisor {
  uint32_t value, factor, shift;
};

// One digit of a unit's number: `count` values with a constant stride, or, in a list, with the places in the list.
struct place_dimension {
  divisor count;
  bool listed;
  int64_t stride;
};

constexpr unsigned most_place_dimensions = most_box_dimensions + 1;  // and the units of a run
constexpr unsigned few_place_dimensions = 2;
constexpr uint64_t most_units = uint64_t{1} << 31;

// One side of a move: what is left of a unit's number after all digits counts in strides of `outer`.
template <unsigned Digits>
struct place_side_of {
  char* base;
  int64_t outer;
  uint32_t dimensions;
  place_dimension digit[Digits];
};
// The image that a list is part of, and what its header says until the datatype is freed. Null: there is none.
struct image_stamp {
  const uint64_t* header;
  uint64_t space, generation;
};
// What a list says of places of runs, in bytes; those outside low ... high are none. Null: there is none.
struct place_list {
  const int64_t* at;
  int64_t low, high;
  image_stamp of;
};
template <unsigned Digits>
struct listed_side_of : place_side_of<Digits> {
  place_list list;
};
using place_side = listed_side_of<most_place_dimensions>;

// Units `first` ... `first` + `units` - 1 of the packed data, from place to place.
template <class Side>
struct place_move_of {
  uint32_t first, units;
  Side to, from;
};
using place_move = place_move_of<place_side>;
// The same for sides with few digits, with and without lists. A kernel's parameters arrive line by line, and a line
// whose address depends on the line before comes 0.2 us after it. So short parameters cost less.
using few_listed_move = place_move_of<listed_side_of<few_place_dimensions>>;
using few_place_move = place_move_of<place_side_of<few_place_dimensions>>;

// Runs of any length, in sequence: `count` of them in an item; the packed data of run r begin at byte sums[r] of the
// item's packed data. Without sums the item is one run of `run` bytes.
struct run_side {
  char* base;
  int64_t extent;
  uint64_t size;  // bytes of data of an item
  const uint64_t* sums;
  const int64_t* list;
  int64_t low, high;  // where the data of an item lie
  divisor count;      // value 1: no division
  image_stamp of;
};
// All items to or from dense data, `together` runs of a block at a time; or to `alike`, items of the same layout.
struct run_move {
  run_side items;
  char* dense;
  char* alike;  // null: dense data
  uint32_t runs, together;
  bool pack;
};

// A part of an item of 1, 2, 4 or 8 bytes: where it lies in the item and in the item's dense data.
struct item_field {
  int32_t at;
  uint16_t packed, bytes;
};
constexpr unsigned most_item_fields = 24;
// Small items to dense data, `together` of a block at a time.
struct item_move {
  const char* base;
  char* dense;
  int64_t extent;
  uint32_t count, size, together, fields;
  image_stamp of;
  item_field field[most_item_fields];
};

// A part of an item of 1, 2, 4 or 8 bytes: where it lies in the item on both sides.
struct field_pair {
  int32_t from, to;
  uint32_t bytes;
};
// Small items to as many items of another layout.
struct pair_move {
  const char* from;
  char* to;
  int64_t from_extent, to_extent;
  uint32_t count, fields;
  image_stamp from_of, to_of;
  field_pair field[most_item_fields];
};

// Items, or packed data (no type), as the host knows them; `segment` is where kernels find the own segment, for lists.
struct side_items {
  char* at;
  uint64_t count;
  const ggas_type* type;

  uint64_t step() const { return count > 1 ? static_cast<uint64_t>(type->extent) : 0; }
};

// Boxes and lists of equal runs have places; other lists, and records, have none.
bool has_places(const side_items& s);
// The widest unit of `range` bytes from `first` on between the two, 1 ... 16 bytes.
unsigned widest_unit_of(const side_items& to, const side_items& from, uint64_t first, uint64_t bytes);
// The places of a side in units of `unit` bytes; has_places(), and no more than most_units units.
place_side places_of(const side_items& s, unsigned unit, const char* segment);

// Lists of runs and items of one run: their runs. The data are put together in pieces of `staged` bytes.
bool has_runs(const side_items& s);
run_move runs_of(const side_items& items, char* dense, bool pack, unsigned staged, const char* segment);

// Items of a few fields. Each field is as wide as the addresses of all items allow. No value if there are too many
// fields, or if they do not fit in `staged` bytes. `together` is a multiple of 16.
std::optional<item_move> fields_of(const side_items& items, char* dense, unsigned staged, const char* segment);

// Whether both sides are as many items of one datatype with runs.
bool has_same_runs(const side_items& a, const side_items& b);
// Sides whose items have as many bytes each, of up to most_handle_runs runs: their parts, as wide as the addresses of
// all items on both sides allow. No value if a side has other items, or if there are too many parts.
std::optional<pair_move> pairs_of(const side_items& to, const side_items& from, const char* segment);

// A side as rows for the copy engine: `rows` of `width` bytes, `pitch` bytes apart. If `rows` is 1 the data are dense;
// if it is 0 the side has no such form.
struct side_rows {
  char* first;
  uint64_t width, rows, pitch;
};
side_rows rows_of(const side_items& s, uint64_t bytes);

}  // namespace ggas::detail
