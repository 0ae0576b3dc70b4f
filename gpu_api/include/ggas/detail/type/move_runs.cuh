// SPDX-License-Identifier: Apache-2.0
// Runs of any length to and from dense data: a block takes neighbouring runs, a thread each, and assembles them in
// shared memory, so that dense data are moved in words of 16 bytes. Runs are moved in words as wide as their addresses
// allow.
#pragma once

#include "ggas/detail/access/move.cuh"
#include "ggas/detail/type/move_places.cuh"

namespace ggas::detail {

constexpr unsigned staged_bytes = 16 << 10, longest_staged = 256;  // of a run that one thread moves

struct run_place {
  int64_t at;       // from the items' address
  uint64_t packed;  // of the dense data
  uint64_t bytes;   // 0: it lies nowhere, in a damaged list
};

GGAS_DEVICE run_place find_run(const run_side& s, uint32_t r) {
  if (!s.sums) return {static_cast<int64_t>(r) * s.extent, r * s.size, s.size};
  const uint32_t item = quotient(r, s.count), h = r - item * s.count.value;
  const uint64_t before = load_own(s.sums + h), behind = load_own(s.sums + h + 1);
  const int64_t at = load_own(s.list + h);
  const bool good = before <= behind && behind <= s.size && at >= s.low && at <= s.high &&
                    behind - before <= static_cast<uint64_t>(s.high - at);
  return {static_cast<int64_t>(item) * s.extent + at, item * s.size + before, good ? behind - before : 0};
}
// Where the dense data of run r begin; of the one after the last: where they end.
GGAS_DEVICE uint64_t packed_begin(const run_side& s, uint32_t r) {
  if (!s.sums) return r * s.size;
  const uint32_t item = quotient(r, s.count);
  return item * s.size + load_own(s.sums + (r - item * s.count.value));
}

// Moves words of a run between memory, where they are aligned, and packed bytes of any alignment. A thread has several
// words in flight before it splits the first one.
constexpr unsigned words_of_run = 4;
template <bool Pack, class T>
GGAS_DEVICE void move_words_of_run(char* place, char* bytes, unsigned words) {
  auto* const there = reinterpret_cast<T*>(place);
  T v[words_of_run] = {};
  GGAS_UNROLL
  for (unsigned w = 0; w < words_of_run; ++w) {
    if (w >= words) continue;
    if constexpr (Pack) {
      v[w] = load_own(there + w);
    } else {
      for (unsigned b = 0; b < sizeof(T); ++b)
        v[w] = static_cast<T>(
            v[w] | static_cast<T>(static_cast<T>(static_cast<uint8_t>(bytes[w * sizeof(T) + b])) << (8 * b)));
    }
  }
  GGAS_UNROLL
  for (unsigned w = 0; w < words_of_run; ++w) {
    if (w >= words) continue;
    if constexpr (Pack) {
      for (unsigned b = 0; b < sizeof(T); ++b) bytes[w * sizeof(T) + b] = static_cast<char>(v[w] >> (8 * b));
    } else {
      store_relaxed(there + w, v[w]);
    }
  }
}

template <bool Pack, class T>
GGAS_DEVICE void move_run_by(char* place, char* bytes, unsigned n) {
  unsigned at = 0;
  for (unsigned left = n / sizeof(T); left > 0;) {
    const unsigned now = left < words_of_run ? left : words_of_run;
    move_words_of_run<Pack, T>(place + at, bytes + at, now);
    at += now * static_cast<unsigned>(sizeof(T));
    left -= now;
  }
  if constexpr (sizeof(T) > 1) {
    if (n & 4 & (sizeof(T) - 1)) move_words_of_run<Pack, uint32_t>(place + at, bytes + at, 1), at += 4;
    if (n & 2 & (sizeof(T) - 1)) move_words_of_run<Pack, uint16_t>(place + at, bytes + at, 1), at += 2;
    if (n & 1) move_words_of_run<Pack, uint8_t>(place + at, bytes + at, 1);
  }
}
template <bool Pack>
GGAS_DEVICE void move_run(char* place, char* bytes, uint64_t n) {
  const auto low = reinterpret_cast<uintptr_t>(place);
  const auto short_n = static_cast<unsigned>(n);
  if (low % 8 == 0) return move_run_by<Pack, uint64_t>(place, bytes, short_n);
  if (low % 4 == 0) return move_run_by<Pack, uint32_t>(place, bytes, short_n);
  if (low % 2 == 0) return move_run_by<Pack, uint16_t>(place, bytes, short_n);
  move_run_by<Pack, uint8_t>(place, bytes, short_n);
}

// Called by the block. Moves words that are as wide as addresses and length allow. It does not use move_bytes(), which
// needs twice the registers: here the number of blocks on a multiprocessor matters more.
template <class T>
GGAS_DEVICE void copy_words(char* to, const char* from, uint64_t bytes) {
  const auto words = static_cast<uint32_t>(bytes / sizeof(T));
  for (uint32_t i = thread_rank(); i < words; i += thread_count())
    store_relaxed(reinterpret_cast<T*>(to) + i, load_own(reinterpret_cast<const T*>(from) + i));
}
GGAS_DEVICE void copy_by_block(char* to, const char* from, uint64_t bytes) {
  const auto all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
  if (all % 16 == 0) return copy_words<word_pair>(to, from, bytes);
  if (all % 8 == 0) return copy_words<uint64_t>(to, from, bytes);
  if (all % 4 == 0) return copy_words<uint32_t>(to, from, bytes);
  copy_words<uint8_t>(to, from, bytes);
}

// Runs that are too long to be put together: each by the whole block. False: one lies nowhere.
GGAS_DEVICE bool move_long_runs(const run_move& m, uint32_t first, uint32_t last) {
  bool good = true;
  for (uint32_t r = first; r < last; ++r) {
    const run_place p = find_run(m.items, r);
    char *const here = m.items.base + p.at, *const there = m.alike ? m.alike + p.at : m.dense + p.packed;
    const bool from_items = m.pack || m.alike;
    good = good && p.bytes != 0;
    copy_by_block(from_items ? there : here, from_items ? here : there, p.bytes);
  }
  return good;
}

// Neighbouring runs that a block moves at once, from `first` up to `last`, and where their dense data are.
struct run_range {
  uint32_t first, last;
  uint64_t begin, end;
};
GGAS_DEVICE run_range range_from(const run_move& m, uint64_t next) {
  const auto first = static_cast<uint32_t>(next);
  const uint32_t last = m.runs - first > m.together ? first + m.together : m.runs;
  return {first, last, packed_begin(m.items, first),
          packed_begin(m.items, last - 1) + find_run(m.items, last - 1).bytes};
}

// Called by all blocks of a grid. `staged` is shared memory of the block, of staged_bytes bytes. Returns false if a
// list contained an invalid place.
GGAS_DEVICE bool move_runs(const run_move& m, char* staged) {
  bool good = true;
  for (uint64_t next = uint64_t{block_rank()} * m.together; next < m.runs;
       next += uint64_t{block_count()} * m.together) {
    const run_range here = range_from(m, next);
    const uint32_t first = here.first, last = here.last;
    const uint64_t begin = here.begin, end = here.end;
    const uint64_t usual = end < begin ? 0 : (end - begin) / (last - first);
    if (end < begin || end - begin > staged_bytes || usual > longest_staged) {
      good = move_long_runs(m, first, last) && good;
      continue;
    }
    const auto each = [&](auto move) {
      for (uint32_t r = first + thread_rank(); r < last; r += thread_count()) {
        const run_place p = find_run(m.items, r);
        const bool inside =
            p.bytes != 0 && p.packed >= begin && p.bytes <= end - begin && p.packed - begin <= end - begin - p.bytes;
        if (inside) move(m.items.base + p.at, staged + (p.packed - begin), p.bytes);
        good = good && inside;
      }
    };
    if (m.pack) {
      each([](char* place, char* bytes, uint64_t n) { move_run<true>(place, bytes, n); });
      __syncthreads();
      copy_by_block(m.dense + begin, staged, end - begin);
    } else {
      copy_by_block(staged, m.dense + begin, end - begin);
      __syncthreads();
      each([](char* place, char* bytes, uint64_t n) { move_run<false>(place, bytes, n); });
    }
    __syncthreads();
  }
  return good;
}

}  // namespace ggas::detail
