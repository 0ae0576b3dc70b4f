// SPDX-License-Identifier: Apache-2.0
// The random source of the RTL tests: one 64-bit seed a process, printed, settable by GGAS_SEED.
#pragma once

#include <cstdint>
#include <cstdio>

#include "tests/support/number_of.hpp"

namespace ggas::test {

// xoshiro256**, seeded by splitmix64.
class rng {
 public:
  explicit rng(uint64_t seed) {
    for (auto& s : s_) {
      seed += 0x9e3779b97f4a7c15ull;
      uint64_t z = seed;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ z >> 27) * 0x94d049bb133111ebull;
      s = z ^ z >> 31;
    }
  }
  uint64_t next() {
    const uint64_t result = rotl(s_[1] * 5, 7) * 9, t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotl(s_[3], 45);
    return result;
  }
  uint64_t below(uint64_t n) { return uint64_t((unsigned __int128)next() * n >> 64); }
  uint64_t range(uint64_t lo, uint64_t hi) { return lo + below(hi - lo + 1); }
  bool chance(double p) { return p > 0 && double(next() >> 11) * 0x1p-53 < p; }

 private:
  static uint64_t rotl(uint64_t x, int k) { return x << k | x >> (64 - k); }
  uint64_t s_[4];
};

inline uint64_t base_seed() {
  static const uint64_t shown = [] {
    std::printf("GGAS_SEED=%llu\n", static_cast<unsigned long long>(seed()));
    return seed();
  }();
  return shown;
}

// How often a long test does what it repeats: GGAS_TEST_ROUNDS, else as many as it says.
inline unsigned test_rounds(unsigned all) { return unsigned(number_of("GGAS_TEST_ROUNDS", all)); }

}  // namespace ggas::test
