// SPDX-License-Identifier: Apache-2.0
// Units moved from place to place: the kernels of boxes and of lists of equal runs. A place costs two products for each
// digit, and neighbouring threads move neighbouring units.
#pragma once

#include "ggas/detail/access/move.cuh"
#include "ggas/detail/type/places.hpp"

namespace ggas::detail {

// Units that a thread has in flight. With 1024 threads a multiprocessor has 32 KB and more in flight; memory needs 29
// KB (H200: 4.8 TB/s, 0.8 us).
constexpr unsigned units_in_flight = 4;

GGAS_DEVICE uint32_t quotient(uint32_t a, const divisor& d) {
  return static_cast<uint32_t>((uint64_t{a} * d.factor) >> 32) >> d.shift;
}

// Digits of few are all worked out at once, those of many one by one.
template <unsigned Units>
GGAS_DEVICE void add_digit(const place_dimension& dim, const int64_t* list, uint32_t (&number)[Units],
                           int64_t (&place)[Units], unsigned& good, const place_list& all) {
  // For a list all loads are in flight before the first place is used.
  uint32_t digit[Units];
  GGAS_UNROLL
  for (unsigned w = 0; w < Units; ++w) {
    const uint32_t next = quotient(number[w], dim.count);
    digit[w] = number[w] - next * dim.count.value;
    number[w] = next;
  }
  if (!list || !dim.listed) {
    GGAS_UNROLL
    for (unsigned w = 0; w < Units; ++w) place[w] += static_cast<int64_t>(digit[w]) * dim.stride;
    return;
  }
  int64_t at[Units] = {};
  GGAS_UNROLL
  for (unsigned w = 0; w < Units; ++w)
    if (good >> w & 1) at[w] = load_own(list + digit[w]);
  GGAS_UNROLL
  for (unsigned w = 0; w < Units; ++w) {
    if (at[w] < all.low || at[w] > all.high) good &= ~(1u << w);
    place[w] += at[w];
  }
}

// Places of the units of `number`. `good` has a bit for each: invalid places of a damaged list are cleared.
template <unsigned Units, unsigned Digits>
GGAS_DEVICE void find_places(const listed_side_of<Digits>& s, uint32_t (&number)[Units], int64_t (&place)[Units],
                             unsigned& good) {
  GGAS_NO_UNROLL
  for (unsigned d = 0; d < s.dimensions; ++d) add_digit(s.digit[d], s.list.at, number, place, good, s.list);
}
template <unsigned Units>
GGAS_DEVICE void find_places(const place_side_of<few_place_dimensions>& s, uint32_t (&number)[Units],
                             int64_t (&place)[Units], unsigned& good) {
  GGAS_UNROLL
  for (unsigned d = 0; d < few_place_dimensions; ++d)
    if (d < s.dimensions) add_digit(s.digit[d], nullptr, number, place, good, {});
}

// Checks that the datatype was not freed: a graph may contain a freed one, which must not be read. It was freed before
// the kernel began, so the first-level cache may answer. If the threads of a whole GPU loaded one word from the
// second-level cache, they would wait for each other.
GGAS_DEVICE bool is_current(const image_stamp& s) {
  if (!s.header) return true;
  return (load_own(s.header) == s.space) & (load_own(s.header + 1) == s.generation);
}
template <unsigned Digits>
GGAS_DEVICE bool has_current_list(const place_side_of<Digits>&) {
  return true;
}
template <unsigned Digits>
GGAS_DEVICE bool has_current_list(const listed_side_of<Digits>& s) {
  return !s.list.at || is_current(s.list.of);
}

// False: a list contained an invalid place, and its units were left out; or the list was freed, and nothing has moved.
template <class T, class Move>
GGAS_DEVICE bool move_places(const Move& m, const movers& by) {
  const unsigned rank = by.rank, count = by.count;
  constexpr unsigned all = (1u << units_in_flight) - 1;
  unsigned kept = all;
  by.meet();
  const bool current = has_current_list(m.from) & has_current_list(m.to);
  GGAS_NO_UNROLL
  for (uint32_t base = rank; base < m.units; base += units_in_flight * count) {
    uint32_t from_number[units_in_flight], to_number[units_in_flight];
    int64_t from[units_in_flight] = {}, to[units_in_flight] = {};
    unsigned mine = 0;
    GGAS_UNROLL
    for (unsigned w = 0; w < units_in_flight; ++w) {
      const uint32_t i = base + w * count;
      mine |= (i < m.units ? 1u : 0u) << w;
      from_number[w] = to_number[w] = m.first + i;
    }
    unsigned good = mine;
    find_places(m.from, from_number, from, good);
    if (!current) good = 0;
    T v[units_in_flight] = {};
    GGAS_UNROLL
    for (unsigned w = 0; w < units_in_flight; ++w)
      if (good >> w & 1)
        v[w] = load_own(
            reinterpret_cast<const T*>(m.from.base + from[w] + static_cast<int64_t>(from_number[w]) * m.from.outer));
    find_places(m.to, to_number, to, good);
    GGAS_UNROLL
    for (unsigned w = 0; w < units_in_flight; ++w)
      if (good >> w & 1)
        store_relaxed(reinterpret_cast<T*>(m.to.base + to[w] + static_cast<int64_t>(to_number[w]) * m.to.outer), v[w]);
    kept &= good | ~mine;
  }
  return kept == all;
}

}  // namespace ggas::detail
