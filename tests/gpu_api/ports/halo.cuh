// SPDX-License-Identifier: Apache-2.0
// A stencil in strips, like the halo exchanges of NVSHMEM's and GASPI's examples: rows at the edge go to the
// neighbours' halo rows by puts with signal, two copies of the grid take turns, all other accesses are plain.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

constexpr int halo_rows = 6, halo_width = 64;

GGAS_HOST_DEVICE constexpr uint32_t stencil(uint32_t above, uint32_t here, uint32_t below) {
  return above + 3 * here + below;
}

static __global__ void halo_exchange(args a) {
  const int me = ggas_node(), above = modulo(me - 1, ggas_nodes()), below = (me + 1) % ggas_nodes();
  constexpr uint64_t words = (halo_rows + 2) * halo_width, row_bytes = halo_width * sizeof(uint32_t);
  room places{a.memory};
  const uint64_t copies[2] = {places.take<uint32_t>(words), places.take<uint32_t>(words)};
  const uint64_t from_above = places.take<uint64_t>(1), from_below = places.take<uint64_t>(1);
  uint32_t* const first = bench::own<uint32_t>(copies[0]);
  for (unsigned i = threadIdx.x; i < halo_rows * halo_width; i += blockDim.x) first[halo_width + i] = value(me, 0, i);
  __syncthreads();
  ggas_status s = ggas_ok;
  for (uint64_t step = 0; step < a.rounds && s == ggas_ok; ++step) {
    const uint64_t copy = copies[step % 2];
    const uint32_t* const old = bench::own<uint32_t>(copy);
    uint32_t* const next = bench::own<uint32_t>(copies[(step + 1) % 2]);
    s = ggas_put_signal_nbi_block(ggas_pointer_of_node<uint32_t>(above, copy + (halo_rows + 1) * row_bytes),
                                  old + halo_width, halo_width, ggas_pointer_of_node<uint64_t>(above, from_below),
                                  step + 1, ggas_signal_set, a.timeout_ns);
    if (s == ggas_ok)
      s = ggas_put_signal_nbi_block(ggas_pointer_of_node<uint32_t>(below, copy), old + halo_rows * halo_width,
                                    halo_width, ggas_pointer_of_node<uint64_t>(below, from_above), step + 1,
                                    ggas_signal_set, a.timeout_ns);
    if (s == ggas_ok) s = ggas_wait_until_block(bench::own<uint64_t>(from_above), ggas_ge, step + 1, a.timeout_ns);
    if (s == ggas_ok) s = ggas_wait_until_block(bench::own<uint64_t>(from_below), ggas_ge, step + 1, a.timeout_ns);
    for (unsigned i = threadIdx.x + halo_width; i < (halo_rows + 1) * halo_width; i += blockDim.x)
      next[i] = stencil(old[i - halo_width], old[i], old[i + halo_width]);
    __syncthreads();
  }
  const uint32_t* const last = bench::own<uint32_t>(copies[a.rounds % 2]);
  for (unsigned i = threadIdx.x; i < halo_rows * halo_width; i += blockDim.x)
    bench::own<uint32_t>(a.result)[i] = last[halo_width + i];
  report(a, s);
}

inline std::vector<uint32_t> want_halo(int nodes, int node, uint64_t rounds) {
  const int rows = nodes * halo_rows;
  std::vector<uint32_t> grid, next(static_cast<size_t>(rows * halo_width));
  for (int n = 0; n < nodes; ++n)
    for (uint64_t i = 0; i < halo_rows * halo_width; ++i) grid.push_back(value(n, 0, i));
  const auto at = [&](int row, int column) {
    return grid[static_cast<size_t>(modulo(row, rows) * halo_width + column)];
  };
  for (uint64_t step = 0; step < rounds; ++step) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < halo_width; ++c)
        next[static_cast<size_t>(r * halo_width + c)] = stencil(at(r - 1, c), at(r, c), at(r + 1, c));
    grid.swap(next);
  }
  const auto begin = grid.begin() + node * halo_rows * halo_width;
  return {begin, begin + halo_rows * halo_width};
}

}  // namespace ggas::ports
