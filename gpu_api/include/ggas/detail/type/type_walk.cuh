// SPDX-License-Identifier: Apache-2.0
// The address of a byte of packed data: by division in a box, by a search in a list of runs, else by a walk down the
// records. Every byte is looked up independently, so that threads need no data of each other. The image is not trusted:
// a place outside the bounds in the handle, or a word outside the image, is `nowhere`. Included by type.cuh.
#pragma once

#include "ggas/detail/platform/platform.cuh"
#include "ggas/detail/type/type_handle.hpp"

namespace ggas::detail {

struct type_place {
  int64_t offset;
  uint64_t left;  // bytes of the run from here on; 0: nowhere
};

// Most numbers have 32 bits, and their division needs a quarter of the instructions. The division of 64 bits is not
// inline, because a program would contain it some hundred times.
GGAS_DEVICE_FUNCTION uint64_t long_quotient(uint64_t a, uint64_t b) { return a / b; }
GGAS_DEVICE uint64_t quotient(uint64_t a, uint64_t b) {
  if ((a | b) >> 32 == 0) [[likely]]
    return static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
  return long_quotient(a, b);
}

// at < size.
GGAS_DEVICE type_place find_in_box(const ggas_type& t, uint64_t at) {
  uint64_t i = quotient(at, t.run);
  const uint64_t in_run = at - i * t.run;
  uint64_t offset = static_cast<uint64_t>(t.base) + in_run;
  GGAS_NO_UNROLL
  for (unsigned d = 0; d < t.dimensions; ++d) {
    const uint64_t next = quotient(i, t.box[d].count);
    offset += (i - next * t.box[d].count) * static_cast<uint64_t>(t.box[d].stride);
    i = next;
  }
  return {static_cast<int64_t>(offset), t.run - in_run};
}

// at < size; the runs stand in the handle.
GGAS_HOST_DEVICE constexpr bool has_few_runs(const ggas_type& t) {
  return t.records == 1 && t.run == 0 && t.box[0].count - 1 < most_handle_runs;
}
GGAS_DEVICE type_place find_in_few_runs(const ggas_type& t, uint64_t at) {
  const auto last = static_cast<unsigned>(t.box[0].count);
  unsigned r = 1;
  GGAS_NO_UNROLL
  while (r < last && at >= t.box[r].count) at -= t.box[r++].count;
  return {t.box[r].stride + static_cast<int64_t>(at), t.box[r].count - at};
}

// One step down: what is found of a level, and how to go on. All in unsigned numbers, which go round.
struct type_step {
  uint64_t offset = 0;
  uint64_t at = 0;      // byte within the child
  uint64_t left = 0;    // bytes up to the end of the block, if children follow each other without gaps
  uint64_t record = 0;  // of the child; no_record: a primitive
  bool good = false;
};

// Reads word `i` of an image's records and lookaside part; `words` and `records` as the handle says.
template <class Read>
struct type_walk {
  Read read;
  uint64_t words, records;

  // `n` words of the lookaside part from `look` on are there.
  GGAS_DEVICE bool has(uint64_t look, uint64_t n) const {
    const uint64_t all = words - records * record_words;
    return look <= all && n <= all - look;
  }
  GGAS_DEVICE uint64_t look(uint64_t i) const { return read(records * record_words + i); }

  // The last of n blocks whose sum is not above `at`: sums[h] <= at < sums[h + 1].
  GGAS_DEVICE uint64_t search(uint64_t sums, uint64_t n, uint64_t at) const {
    uint64_t low = 0, high = n;
    GGAS_NO_UNROLL
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      if (look(sums + middle) <= at)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  GGAS_DEVICE type_step step(uint64_t record, uint64_t at) const;
  GGAS_DEVICE type_step in_structure(uint64_t count, uint64_t sums, uint64_t at) const;
  GGAS_DEVICE type_step in_subarray(uint64_t dimensions, uint64_t sizes, uint64_t extent, uint64_t q) const;
  GGAS_DEVICE type_place find(uint64_t at) const;
};

template <class Read>
GGAS_DEVICE type_step type_walk<Read>::in_structure(uint64_t count, uint64_t sums, uint64_t at) const {
  type_step s;
  if (count == 0 || count > words || !has(sums, 5 * count + 1)) return s;
  const uint64_t h = search(sums, count, at), before = look(sums + h), children = sums + 2 * count + 1;
  const uint64_t size = look(children + h), behind = look(sums + h + 1);
  if (size == 0 || at < before || at >= behind) return s;
  const uint64_t q = quotient(at - before, size), extent = look(children + count + h);
  s.offset = look(sums + count + 1 + h) + q * extent;
  s.at = at - before - q * size;
  s.left = extent == size ? behind - at : size - s.at;
  s.record = look(children + 2 * count + h);
  s.good = true;
  return s;
}

// Places of copy q: the last dimension goes fastest.
template <class Read>
GGAS_DEVICE type_step type_walk<Read>::in_subarray(uint64_t dimensions, uint64_t sizes, uint64_t extent,
                                                   uint64_t q) const {
  type_step s;
  if (dimensions == 0 || dimensions > words || !has(sizes, 3 * dimensions)) return s;
  uint64_t row = extent;
  GGAS_NO_UNROLL
  for (uint64_t d = dimensions; d-- > 0;) {
    const uint64_t part = look(sizes + dimensions + d);
    if (part == 0) return s;
    const uint64_t next = quotient(q, part), x = q - next * part;
    if (d == dimensions - 1) s.left = part - x;  // copies up to the row's end
    s.offset += (look(sizes + 2 * dimensions + d) + x) * row;
    row *= look(sizes + d);
    q = next;
  }
  s.good = q == 0;
  return s;
}

template <class Read>
GGAS_DEVICE type_step type_walk<Read>::step(uint64_t record, uint64_t at) const {
  const uint64_t first = record * record_words;
  const uint64_t bits = read(first + rec_bits), count = read(first + rec_count);
  const auto kind = static_cast<record_kind>(bits & 0xf);
  if (kind == record_kind::structure) return in_structure(count, read(first + rec_look), at);
  const uint64_t size = read(first + rec_size), extent = read(first + rec_extent);
  type_step s;
  if (size == 0) return s;
  const uint64_t q = quotient(at, size);
  uint64_t copies = 0;  // from this one to the end of its block
  if (kind == record_kind::contiguous) {
    s.good = q < count;
    s.offset = q * extent;
    copies = count - q;
  } else if (kind == record_kind::vector || kind == record_kind::indexed_block) {
    const uint64_t block = read(first + rec_blocklength), places = read(first + rec_look);
    const uint64_t i = block == 0 ? count : quotient(q, block);
    s.good = i < count && (kind == record_kind::vector || (count <= words && has(places, count)));
    if (!s.good) return s;
    const uint64_t start = kind == record_kind::vector ? i * read(first + rec_stride) : look(places + i);
    s.offset = start + (q - i * block) * extent;
    copies = block - (q - i * block);
  } else if (kind == record_kind::indexed) {
    const uint64_t sums = read(first + rec_look);
    if (count == 0 || count > words || !has(sums, 2 * count + 1)) return s;
    const uint64_t h = search(sums, count, q), before = look(sums + h), behind = look(sums + h + 1);
    s.good = before <= q && q < behind;
    s.offset = look(sums + count + 1 + h) + (q - before) * extent;
    copies = behind - q;
  } else if (kind == record_kind::subarray) {
    s = in_subarray(count, read(first + rec_look), extent, q);
    copies = s.left;
  }
  s.at = at - q * size;
  s.left = extent == size ? copies * size - s.at : size - s.at;
  s.record = bits & rec_leaf ? no_record : record + 1;
  return s;
}

// A walk goes down: it has at most as many steps as there are records.
template <class Read>
GGAS_DEVICE type_place type_walk<Read>::find(uint64_t at) const {
  uint64_t offset = 0, record = 0;
  GGAS_NO_UNROLL
  for (uint64_t steps = 0; steps < records; ++steps) {
    const type_step s = step(record, at);
    if (!s.good) break;
    offset += s.offset;
    if (s.record == no_record) return {static_cast<int64_t>(offset + s.at), s.left};
    at = s.at;
    record = s.record;
    if (record >= records) break;
  }
  return {0, 0};
}

// at < size; one list of runs, whose sums and places, or places alone, are all of the lookaside part.
template <class Read>
GGAS_DEVICE type_place find_in_list(const ggas_type& t, const type_walk<Read>& image, uint64_t at) {
  const uint64_t runs = t.box[0].count;
  if (t.run != 0) {
    const uint64_t r = quotient(at, t.run), in_run = at - r * t.run;
    if (!image.has(r, 1)) return {0, 0};
    return {static_cast<int64_t>(image.look(r) + in_run), t.run - in_run};
  }
  if (!image.has(0, 2 * runs + 1)) return {0, 0};
  const uint64_t r = image.search(0, runs, at), before = image.look(r), behind = image.look(r + 1);
  if (at < before || at >= behind) return {0, 0};
  return {static_cast<int64_t>(image.look(runs + 1 + r) + (at - before)), behind - at};
}

// Byte `at` of the packed data of an item with an image; at < size.
template <class Read>
GGAS_DEVICE type_place find_by_image(const ggas_type& t, const Read& read, uint64_t at) {
  if (has_few_runs(t)) return find_in_few_runs(t, at);
  const type_walk<Read> image{read, t.words, t.records};
  type_place p = t.records == 1 && t.box[0].count != 0 ? find_in_list(t, image, at) : image.find(at);
  if (p.left == 0 || p.offset < t.true_lb || p.offset >= t.true_ub) return {0, 0};
  const auto room = static_cast<uint64_t>(t.true_ub - p.offset);
  if (p.left > room) p.left = room;
  return p;
}

}  // namespace ggas::detail
