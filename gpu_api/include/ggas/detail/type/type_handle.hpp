// SPDX-License-Identifier: Apache-2.0
// The kernels' handle of a committed datatype, and the words of its image in the segments (docs/datatypes.md). For host
// and kernels.
#pragma once

#include "ggas/detail/platform/integers.hpp"

#ifdef __CUDACC__
#define GGAS_TYPE_FN __host__ __device__ inline
#else
#define GGAS_TYPE_FN inline
#endif

namespace ggas::detail {

constexpr unsigned most_box_dimensions = 8;
constexpr unsigned widest_unit = 16;  // bytes of one access
constexpr unsigned most_handle_runs = most_box_dimensions - 1;

struct box_dimension {
  uint64_t count;
  int64_t stride;  // bytes
};

// An image: two words that say whose it is and which, zero once it is freed; records; the lookaside part.
constexpr uint64_t image_header_bytes = 16, record_words = 8;

enum class record_kind : unsigned { contiguous, vector, indexed_block, indexed, structure, subarray };
// Words of a record. All except `look` of a struct describe one child. A child that is not a primitive follows
// directly; children of a struct are named in the lookaside part.
enum record_word : unsigned {
  rec_bits,
  rec_count,
  rec_size,
  rec_extent,
  rec_elements,
  rec_stride,
  rec_blocklength,
  rec_look
};
constexpr uint64_t rec_leaf = 1u << 4;  // the child is a primitive; its number in bits 8 ... 15
// Lookaside part, n = count. indexed: n + 1 sums of the preceding blocklengths, n displacements. indexed_block: n
// displacements. structure: n + 1 sums of the preceding bytes, n displacements; then the sizes, extents and records
// (no_record: a primitive) of the children, n words each. subarray: n sizes, n subsizes, n starts.
constexpr uint64_t no_record = ~uint64_t{0};

}  // namespace ggas::detail

// A value that is the same on every node: pass it to kernels. All of it is the library's.
struct ggas_type {
  uint64_t space = 0, generation = 0;                // who committed it, and as which commit of it; 0: none
  uint64_t image = 0;                                // offset in every segment
  uint64_t words = 0;                                // of 8 bytes after the image's header
  uint32_t records = 0;                              // of those the records; 0: a box
  uint32_t dimensions = 0;                           // of the box
  uint32_t unit = 1;                                 // every run and every place is a multiple of so many bytes
  uint64_t size = 0;                                 // bytes of data of an item
  int64_t extent = 0;                                // from one item to the next
  int64_t true_lb = 0, true_ub = 0;                  // where the data of an item lie
  uint64_t word = 0, word_length = 0, elements = 0;  // signature
  // The box: runs of `run` bytes, the first at `base`, repeated in each dimension, the innermost first. A single
  // record may be a list of runs instead. Then box[0].count is their number, and `run` is their length, or 0 if their
  // lengths differ. At most most_handle_runs runs of different lengths are stored here, too: box[1 + r] has the bytes
  // and the place of run r.
  int64_t base = 0;
  uint64_t run = 0;
  ggas::detail::box_dimension box[ggas::detail::most_box_dimensions] = {};
};

namespace ggas::detail {

// Where the data of `count` items lie around their address.
struct data_range {
  uint64_t low;    // from the address; goes round where it is before it
  uint64_t bytes;  // from there on
  bool good;
};
GGAS_TYPE_FN data_range range_of(const ggas_type& t, uint64_t count) {
  if (count == 0 || t.size == 0) return {0, 0, true};
  constexpr uint64_t most = uint64_t{1} << 62;
  const uint64_t n = count - 1,
                 step = t.extent < 0 ? 0 - static_cast<uint64_t>(t.extent) : static_cast<uint64_t>(t.extent);
  const bool small = (count | step | t.size) >> 31 == 0;
  if (!small && (step > most / count || t.size > most / count)) return {0, 0, false};
  const auto middle = static_cast<int64_t>(most);
  if (t.true_lb < -middle || t.true_ub > middle || t.true_lb >= t.true_ub) return {0, 0, false};
  const uint64_t low = static_cast<uint64_t>(t.true_lb) - (t.extent < 0 ? n * step : 0);
  return {low, static_cast<uint64_t>(t.true_ub - t.true_lb) + n * step, true};
}

}  // namespace ggas::detail
