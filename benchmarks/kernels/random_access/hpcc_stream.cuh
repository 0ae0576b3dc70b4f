// SPDX-License-Identifier: Apache-2.0
// The random stream of the HPC Challenge RandomAccess benchmark: a 64-bit shift register over GF(2) with the polynomial
// x^63 + x^2 + x + 1. Element n is x^n, so any place of the stream is reached by square and multiply.
#pragma once

#include "ggas/detail/platform/platform.cuh"

namespace ggas::bench {

struct hpcc_stream {
  static constexpr uint64_t polynomial = 7;
  static constexpr uint64_t period = 1317624576693539401u;

  // The element after v: v times x.
  static GGAS_HOST_DEVICE constexpr uint64_t next(uint64_t v) { return (v << 1) ^ (v >> 63 != 0 ? polynomial : 0); }

  // Product of two elements.
  static GGAS_HOST_DEVICE constexpr uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t out = 0;
    for (int bit = 63; bit >= 0; --bit) {
      out = next(out);
      if ((b >> bit & 1) != 0) out ^= a;
    }
    return out;
  }

  // Element n; element 0 is 1.
  static GGAS_HOST_DEVICE constexpr uint64_t at(uint64_t n) {
    uint64_t out = 1, power = 2;
    for (n %= period; n != 0; n >>= 1) {
      if ((n & 1) != 0) out = multiply(out, power);
      power = multiply(power, power);
    }
    return out;
  }
};

}  // namespace ggas::bench
