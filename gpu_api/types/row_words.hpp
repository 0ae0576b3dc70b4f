// SPDX-License-Identifier: Apache-2.0
// A row of more than 128 bytes by words of Width bytes whose stores are aligned, four in flight; the first and the last
// one are not aligned. Each width is compiled in a source with the machine's options for it.
#pragma once

#include <cstdint>
#include <cstring>

namespace ggas::detail::walking {

void copy_row_by_16(char* to, const char* from, uint64_t n);
#if defined(__x86_64__)
void copy_row_by_32(char* to, const char* from, uint64_t n);  // needs AVX
#endif

namespace {

template <class Word>
inline void copy_row_by(char* to, const char* from, uint64_t n) {
  constexpr uint64_t width = sizeof(Word), together = 4;
  const auto load = [from](uint64_t at) {
    Word v;
    std::memcpy(&v, from + at, width);
    return v;
  };
  const auto store = [to](uint64_t at, Word v) { *reinterpret_cast<Word*>(to + at) = v; };
  const Word first = load(0), last = load(n - width);
  std::memcpy(to, &first, width);
  uint64_t at = width - reinterpret_cast<uintptr_t>(to) % width;
  for (; at + together * width <= n; at += together * width) {
    const Word a = load(at), b = load(at + width), c = load(at + 2 * width), d = load(at + 3 * width);
    store(at, a), store(at + width, b), store(at + 2 * width, c), store(at + 3 * width, d);
  }
  for (; at + width <= n; at += width) store(at, load(at));
  std::memcpy(to + n - width, &last, width);
}

}  // namespace

}  // namespace ggas::detail::walking
