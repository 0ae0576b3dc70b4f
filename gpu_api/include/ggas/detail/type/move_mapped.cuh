// SPDX-License-Identifier: Apache-2.0
// Runs of whole words to and from dense data: a block takes neighbouring runs and stores in shared memory the address
// of each word of the dense data. Then neighbouring threads move neighbouring words.
#pragma once

#include "ggas/detail/type/move_runs.cuh"

namespace ggas::detail {

constexpr unsigned mapped_words = staged_bytes / sizeof(int64_t);

// Run r's words in the map of the dense data from `begin` to `end`. False: it is none of them.
template <class T>
GGAS_DEVICE bool map_run(const run_side& s, uint32_t r, uint64_t begin, uint64_t end, int64_t* map) {
  const run_place p = find_run(s, r);
  const uint64_t all = static_cast<uint64_t>(p.at) | p.packed | p.bytes;
  if (p.bytes == 0 || all % sizeof(T) != 0 || p.packed < begin || p.packed > end || p.bytes > end - p.packed)
    return false;
  const auto at = static_cast<uint32_t>((p.packed - begin) / sizeof(T));
  const auto words = static_cast<uint32_t>(p.bytes / sizeof(T));
  for (uint32_t w = 0; w < words; ++w) map[at + w] = p.at + static_cast<int64_t>(w * sizeof(T));
  return true;
}

template <class T>
GGAS_DEVICE void move_mapped_words(const run_move& m, uint64_t begin, uint32_t words, const int64_t* map) {
  T* const dense = reinterpret_cast<T*>(m.dense + begin);
  char* const target = m.alike ? m.alike : m.items.base;
  const bool gathers = m.pack || m.alike, scatters = !m.pack || m.alike;
  for (uint32_t base = thread_rank(); base < words; base += units_in_flight * thread_count()) {
    T v[units_in_flight] = {};
    GGAS_UNROLL
    for (unsigned w = 0; w < units_in_flight; ++w) {
      const uint32_t i = base + w * thread_count();
      if (i < words) v[w] = load_own(gathers ? reinterpret_cast<const T*>(m.items.base + map[i]) : dense + i);
    }
    GGAS_UNROLL
    for (unsigned w = 0; w < units_in_flight; ++w) {
      const uint32_t i = base + w * thread_count();
      if (i < words) store_relaxed(scatters ? reinterpret_cast<T*>(target + map[i]) : dense + i, v[w]);
    }
  }
}

// Called by all blocks of a grid. `map` is shared memory of the block, of mapped_words words. Returns false if a list
// contained an invalid place; the words there, and their neighbours in the dense data, were left out.
template <class T>
GGAS_DEVICE bool move_mapped(const run_move& m, int64_t* map) {
  constexpr uint64_t most = mapped_words * sizeof(T);
  bool good = true;
  for (uint64_t next = uint64_t{block_rank()} * m.together; next < m.runs;
       next += uint64_t{block_count()} * m.together) {
    const auto [first, last, begin, end] = range_from(m, next);
    const uint64_t usual = end < begin ? 0 : (end - begin) / (last - first);
    if (end < begin || end - begin > most || usual > longest_staged) {
      good = move_long_runs(m, first, last) && good;
      continue;
    }
    bool mine = true;
    for (uint32_t r = first + thread_rank(); r < last; r += thread_count())
      mine = map_run<T>(m.items, r, begin, end, map) && mine;
    const bool all = block_group{}.join(moved(mine)) == ggas_ok;
    if (all) move_mapped_words<T>(m, begin, static_cast<uint32_t>((end - begin) / sizeof(T)), map);
    good = good && all;
    __syncthreads();
  }
  return good;
}

}  // namespace ggas::detail
