// SPDX-License-Identifier: Apache-2.0
// Himeno's benchmark on one processor, written like the official program: the reference for all other versions.
#pragma once

#include <utility>
#include <vector>

#include "benchmarks/kernels/himeno/point.cuh"

namespace ggas::bench {

struct himeno_solution {
  std::vector<float> pressure;  // x lies together, then y, then z
  double gosa = 0;              // of the last step
};

inline himeno_solution himeno_reference(const himeno_grid& g, uint64_t seed, uint32_t steps) {
  const size_t points = g.plane() * g.nz;
  std::vector<std::vector<float>> k(himeno_coefficients, std::vector<float>(points));
  himeno_solution out;
  out.pressure.resize(points);
  for (size_t i = 0; i < points; ++i) {
    out.pressure[i] = himeno_start(g, seed, static_cast<uint32_t>(i / g.plane()), i);
    for (uint32_t c = 0; c < himeno_coefficients; ++c) k[c][i] = himeno_coefficient(seed, c, i);
  }
  std::vector<float> next = out.pressure;
  const size_t x = 1, y = g.nx, z = g.plane();  // steps to neighbours
  for (uint32_t step = 0; step < steps; ++step) {
    out.gosa = 0;
    const float* const p = out.pressure.data();
    for (uint32_t iz = 1; iz + 1 < g.nz; ++iz) {
      for (uint32_t iy = 1; iy + 1 < g.ny; ++iy) {
        for (uint32_t ix = 1; ix + 1 < g.nx; ++ix) {
          const size_t i = iz * z + iy * y + ix;
          const float s0 = k[0][i] * p[i + z] + k[1][i] * p[i + y] + k[2][i] * p[i + x] +
                           k[4][i] * (p[i + z + y] - p[i + z - y] - p[i - z + y] + p[i - z - y]) +
                           k[5][i] * (p[i + y + x] - p[i - y + x] - p[i + y - x] + p[i - y - x]) +
                           k[6][i] * (p[i + z + x] - p[i - z + x] - p[i + z - x] + p[i - z - x]) + k[7][i] * p[i - z] +
                           k[8][i] * p[i - y] + k[9][i] * p[i - x] + k[11][i];
          const float ss = (s0 * k[3][i] - p[i]) * k[10][i];
          out.gosa += ss * ss;
          next[i] = p[i] + himeno_omega * ss;
        }
      }
    }
    std::swap(out.pressure, next);
  }
  return out;
}

}  // namespace ggas::bench
