// SPDX-License-Identifier: Apache-2.0
// Translation tables that software changes while the ATU reads them, with the history of every entry: the values that
// may still be seen, and those that must not because an invalidation was acknowledged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ggas::test::atu {

inline constexpr std::array<unsigned, 4> shifts{12, 16, 21, 30};
inline constexpr std::array<unsigned, 4> counts{24, 12, 6, 3};  // pages in use of a class
inline constexpr unsigned piece_entries = 65536;
// The table of the class with most pages takes two pieces: its pages lie at the beginning and around the border.
inline constexpr std::array<unsigned, 4> entries{piece_entries + 6, 12, 6, 3}, first_piece{3, 0, 200, 255};
inline uint64_t index_of(unsigned cls, unsigned page) { return cls || page < 12 ? page : piece_entries - 18 + page; }
inline int page_at(unsigned cls, uint64_t index) {
  for (unsigned i = 0; i < counts[cls]; ++i)
    if (index_of(cls, i) == index) return int(i);
  return -1;
}

struct version {
  uint64_t word0 = 0, word1 = 0;
  uint64_t until = ~uint64_t{0};  // replaced at this cycle
  bool retired = false;           // must not be seen any more
  bool valid() const { return word0 & 1; }
  bool allows(uint16_t pd, bool write, bool both) const {
    const bool right = write ? (word0 & 4) && (!both || (word0 & 2)) : word0 & 2;
    return valid() && uint16_t(word1) == pd && right;
  }
};

class tables {
 public:
  static uint64_t piece(unsigned i) { return 0x10'0000'0000 * (i + 1) + 0x5000; }

  uint64_t salt = 0;  // of the bus addresses of versions to come; few bits

  tables() {
    for (unsigned c = 0; c < 4; ++c) pages_[c].assign(counts[c], {version{}});
  }

  // Each version has a bus address of its own.
  void change(uint64_t now, unsigned cls, unsigned index, unsigned flags, uint16_t pd) {
    auto& v = pages_[cls][index];
    v.back().until = now;
    v.push_back({((++serial_ ^ salt) << shifts[cls]) | flags, 0xabcd00000000u | pd, ~uint64_t{0}, false});
  }
  std::vector<version>& of(unsigned cls, unsigned index) { return pages_[cls][index]; }
  const version& newest(unsigned cls, unsigned index) const { return pages_[cls][index].back(); }

  // What an acknowledged invalidation that began at `since` means for a page, a range of indices, and everything.
  void retire(unsigned cls, unsigned index, uint64_t since) {
    for (version& v : of(cls, index))
      if (v.until <= since) v.retired = true;
  }
  void retire_range(unsigned cls, uint64_t low, uint64_t high, uint64_t since) {
    for (unsigned i = 0; i < counts[cls]; ++i)
      if (index_of(cls, i) >= low && index_of(cls, i) <= high) retire(cls, i, since);
  }
  void retire_all(uint64_t since) {
    for (unsigned c = 0; c < 4; ++c) retire_range(c, 0, ~uint64_t{0}, since);
  }

  uint8_t byte(uint64_t addr) const {
    for (unsigned c = 0; c < 4; ++c) {
      for (unsigned k = 0; k <= entries[c] / piece_entries; ++k) {
        const uint64_t at = addr - piece(first_piece[c] + k);
        if (at >= 16 * piece_entries) continue;
        const int page = page_at(c, k * piece_entries + at / 16);
        if (page < 0) return 0xee;  // not valid
        const version& v = newest(c, unsigned(page));
        return uint8_t((at & 8 ? v.word1 : v.word0) >> 8 * (at & 7));
      }
    }
    return 0xee;
  }

 private:
  std::array<std::vector<std::vector<version>>, 4> pages_;
  uint64_t serial_ = 0;
};

inline uint64_t nla_of(unsigned cls, unsigned index, uint64_t offset) {
  return uint64_t{cls} << 46 | index_of(cls, index) << shifts[cls] | (offset & ((uint64_t{1} << shifts[cls]) - 1));
}

}  // namespace ggas::test::atu
