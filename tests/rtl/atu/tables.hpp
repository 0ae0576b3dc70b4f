// SPDX-License-Identifier: Apache-2.0
// Translation tables that software changes while the ATU reads them, with everything an entry has been: which of it may
// still be seen, and which must not be because an invalidation was acknowledged.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ggas::test::atu {

inline constexpr std::array<unsigned, 4> shifts{12, 16, 21, 30};
inline constexpr std::array<unsigned, 4> counts{24, 12, 6, 3};

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
  static uint64_t base(unsigned cls) { return 0x10'0000'0000 * (cls + 1) + 0x5000; }

  tables() {
    for (unsigned c = 0; c < 4; ++c) pages_[c].assign(counts[c], {version{}});
  }

  // Each version has a bus address of its own.
  void change(uint64_t now, unsigned cls, unsigned index, unsigned flags, uint16_t pd) {
    auto& v = pages_[cls][index];
    v.back().until = now;
    v.push_back({(++serial_ << shifts[cls]) | flags, 0xabcd00000000u | pd, ~uint64_t{0}, false});
  }
  std::vector<version>& of(unsigned cls, unsigned index) { return pages_[cls][index]; }
  const version& newest(unsigned cls, unsigned index) const { return pages_[cls][index].back(); }

  // What an acknowledged invalidation that began at `since` means for a page.
  void retire(unsigned cls, unsigned index, uint64_t since) {
    for (version& v : of(cls, index))
      if (v.until <= since) v.retired = true;
  }
  void retire_all(uint64_t since) {
    for (unsigned c = 0; c < 4; ++c)
      for (unsigned i = 0; i < counts[c]; ++i) retire(c, i, since);
  }

  uint8_t byte(uint64_t addr) const {
    for (unsigned c = 0; c < 4; ++c) {
      const uint64_t at = addr - base(c);
      if (at >= counts[c] * 16) continue;
      const version& v = newest(c, unsigned(at / 16));
      return uint8_t((at & 8 ? v.word1 : v.word0) >> 8 * (at & 7));
    }
    return 0xee;
  }

 private:
  std::array<std::vector<std::vector<version>>, 4> pages_;
  uint64_t serial_ = 0;
};

inline uint64_t nla_of(unsigned cls, unsigned index, uint64_t offset) {
  return uint64_t{cls} << 46 | uint64_t{index} << shifts[cls] | (offset & ((uint64_t{1} << shifts[cls]) - 1));
}

}  // namespace ggas::test::atu
