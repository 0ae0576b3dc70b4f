// SPDX-License-Identifier: Apache-2.0
// Copies of more than a word of each thread. Included by long.cuh.
#pragma once

#include "ggas/detail/access/move.cuh"

namespace ggas::detail {

// A few words at an edge, where a thread alone has several.
template <origin From, class T, class By>
GGAS_DEVICE void move_units(char* to, const char* from, uint64_t bytes, const By& by) {
  const auto* const source = reinterpret_cast<const T*>(from);
  move_words<4>(reinterpret_cast<T*>(to), bytes / sizeof(T), by,
                [=](uint64_t i) { return load_from<From>(source + i); });
}
template <origin From, class By>
GGAS_DEVICE void move_edge(char* to, const char* from, uint64_t bytes, unsigned unit, const By& by) {
  if (bytes == 0) return;
  if (unit == 8) return move_units<From, uint64_t>(to, from, bytes, by);
  if (unit == 4) return move_units<From, uint32_t>(to, from, bytes, by);
  if (unit == 2) return move_units<From, uint16_t>(to, from, bytes, by);
  move_units<From, uint8_t>(to, from, bytes, by);
}

// 16 bytes that begin `shift` (1 ... 15) bytes after the start of two aligned words.
GGAS_DEVICE word_pair shifted(const word_pair& a, const word_pair& b, unsigned shift) {
  const bool far = shift >= 8;
  const uint64_t w0 = far ? a.hi : a.lo, w1 = far ? b.lo : a.hi, w2 = far ? b.hi : b.lo;
  const unsigned bits = 8 * (shift % 8);
  const auto join = [bits](uint64_t low, uint64_t high) { return low >> bits | high << 1 << (63 - bits); };
  return {join(w0, w1), join(w1, w2)};
}

// The middle of a copy: from here on the target is a multiple of 16, and aligned loads do not leave the source.
struct middle {
  uint64_t head, words;
  unsigned shift;  // of the source after an aligned word
};
GGAS_DEVICE middle find_middle(const char* to, const char* from, uint64_t bytes) {
  const uint64_t head = (16 - reinterpret_cast<uintptr_t>(to) % 16) % 16;
  const auto shift = static_cast<unsigned>((reinterpret_cast<uintptr_t>(from) + head) % 16);
  const uint64_t before = head < shift ? head + 16 : head;
  const uint64_t behind = shift == 0 ? 0 : 16 - shift;
  if (bytes < before + behind + 16) return {bytes, 0, 0};
  return {before, (bytes - before - behind) / 16, shift};
}

// What a block loads from a peer: far more of a thread is under way than of own memory, in few registers next to them.
template <class By>
GGAS_DEVICE_FUNCTION void move_from_peer(word_pair* to, const word_pair* from, uint64_t words, By by) {
  constexpr unsigned at_once = pairs_from_peer;
  const unsigned rank = by.rank, count = by.count;
  const uint64_t turn = uint64_t{at_once} * count;
  const word_pair* in = from + rank;
  word_pair* out = to + rank;
  word_pair v[at_once];
  by.meet();
  GGAS_NO_UNROLL
  for (; words >= turn; words -= turn) {
    GGAS_UNROLL
    for (unsigned w = 0; w < at_once; ++w, in = one_by_one(in + count)) v[w] = load_relaxed(in);
    GGAS_UNROLL
    for (unsigned w = 0; w < at_once; ++w, out = one_by_one(out + count)) store_relaxed(out, v[w]);
  }
  if (rank >= words) return;
  // After its last word a thread loads that one again, so that no load stands under a condition.
  const auto left = static_cast<unsigned>(words);
  const auto has = [=](unsigned w) { return rank + w * count < left; };
  GGAS_UNROLL
  for (unsigned w = 0; w < at_once; ++w, in = one_by_one(has(w) ? in + count : in)) v[w] = load_relaxed(in);
  GGAS_UNROLL
  for (unsigned w = 0; w < at_once; ++w, out = one_by_one(out + count))
    if (has(w)) store_relaxed(out, v[w]);
}

// Multiples of 16.
template <origin From, class By>
GGAS_APART void move_aligned(word_pair* to, const word_pair* from, uint64_t words, By by) {
  const auto load = [=](uint64_t i) { return load_from<From>(from + i); };
  if (From == origin::own && words < long_copy * by.count)
    return move_words<pairs_of_short_copies>(to, words, by, load);
  if (From == origin::remote && by.count <= half_block) return move_from_peer(to, from, words, by);
  move_words<pairs_in_flight>(to, words, by, load);
}

// Any addresses, any length.
template <origin From, class By>
GGAS_APART void move_misaligned(char* to, const char* from, uint64_t bytes, By by) {
  const auto all = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
  const unsigned unit = all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
  const middle m = find_middle(to, from, bytes);
  auto* const target = reinterpret_cast<word_pair*>(to + m.head);
  const auto* const source = reinterpret_cast<const word_pair*>(from + m.head - m.shift);
  const uint64_t done = m.head + 16 * m.words;
  // By the last threads: those that have the least of the middle, or nothing.
  const By from_last = by.backwards();
  move_edge<From>(to, from, m.head, unit, from_last);
  move_edge<From>(to + done, from + done, bytes - done, unit, from_last);
  if (m.shift == 0) {
    move_aligned<From>(target, source, m.words, by);
  } else {
    const unsigned shift = m.shift;
    move_words<4>(target, m.words, by, [=](uint64_t i) {
      return shifted(load_from<From>(source + i), load_from<From>(source + i + 1), shift);
    });
  }
}

template <origin From, class By>
GGAS_APART void move_long(void* to, const void* from, uint64_t bytes, By by) {
  move_bytes<From>(to, from, bytes, by);
}

}  // namespace ggas::detail
