// SPDX-License-Identifier: Apache-2.0
// Items to items, without packed data between them: small items field by field, and runs to the same runs of other
// items. Both sides need no search, because what belongs together is known before the kernel begins.
#pragma once

#include "ggas/detail/type/fields.cuh"
#include "ggas/detail/type/move_runs.cuh"

namespace ggas::detail {

constexpr unsigned field_pairs_in_flight = 4;

// An item a thread, all threads at the same field: the fields are parameters of the kernel.
GGAS_DEVICE void move_pairs(const pair_move& m, const movers& by) {
  for (uint32_t i = by.rank; i < m.count; i += by.count) {
    const char* const from = m.from + static_cast<int64_t>(i) * m.from_extent;
    char* const to = m.to + static_cast<int64_t>(i) * m.to_extent;
    GGAS_NO_UNROLL
    for (unsigned first = 0; first < m.fields; first += field_pairs_in_flight) {
      uint64_t v[field_pairs_in_flight] = {};
      GGAS_UNROLL
      for (unsigned w = 0; w < field_pairs_in_flight; ++w)
        if (first + w < m.fields)
          v[w] = load_field<origin::own>(from + m.field[first + w].from, m.field[first + w].bytes);
      GGAS_UNROLL
      for (unsigned w = 0; w < field_pairs_in_flight; ++w)
        if (first + w < m.fields) store_field(to + m.field[first + w].to, m.field[first + w].bytes, v[w]);
    }
  }
}

// `n` bytes of one run, in words as wide as both addresses allow.
GGAS_DEVICE void copy_run(char* to, const char* from, uint64_t n) {
  while (n > 0) {
    const auto seen =
        reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from));
    const unsigned width = field_width(seen, n < 8 ? static_cast<unsigned>(n) : 8);
    store_field(to, width, load_field<origin::own>(from, width));
    to += width, from += width, n -= width;
  }
}

// Runs of parts narrower than a word, to items of the same layout: a run a thread, long ones by the block. Called by
// all blocks of a grid. False: a list contained an invalid place.
GGAS_DEVICE bool move_alike(const run_move& m) {
  bool good = true;
  for (uint64_t next = uint64_t{block_rank()} * m.together; next < m.runs;
       next += uint64_t{block_count()} * m.together) {
    const auto [first, last, begin, end] = range_from(m, next);
    if (end < begin || (end - begin) / (last - first) > longest_staged) {
      good = move_long_runs(m, first, last) && good;
      continue;
    }
    for (uint32_t r = first + thread_rank(); r < last; r += thread_count()) {
      const run_place p = find_run(m.items, r);
      good = good && p.bytes != 0;
      copy_run(m.alike + p.at, m.items.base + p.at, p.bytes);
    }
  }
  return good;
}

}  // namespace ggas::detail
