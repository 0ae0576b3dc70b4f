// SPDX-License-Identifier: Apache-2.0
// Jacobi's method on one processor: what the GPUs must have, bit for bit.
#pragma once

#include <vector>

#include "benchmarks/kernels/jacobi.cuh"

namespace ggas::bench {

// The grid after some steps, with its fixed rows.
inline std::vector<float> jacobi_reference(uint32_t n, uint32_t steps) {
  std::vector<float> from(uint64_t{n} * (n + 2)), to;
  for (uint32_t row = 0; row < n + 2; ++row)
    for (uint32_t column = 0; column < n; ++column) from[uint64_t{row} * n + column] = jacobi_start(row, column);
  to = from;
  for (uint32_t step = 0; step < steps; ++step) {
    for (uint32_t row = 1; row <= n; ++row) {
      const float *const here = from.data() + uint64_t{row} * n, *const up = here - n, *const down = here + n;
      float* const next = to.data() + uint64_t{row} * n;
      for (uint32_t c = 1; c + 1 < n; ++c) next[c] = jacobi_point(up[c], down[c], here[c - 1], here[c + 1]);
    }
    from.swap(to);
  }
  return from;
}

}  // namespace ggas::bench
