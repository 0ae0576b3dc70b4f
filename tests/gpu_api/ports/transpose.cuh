// SPDX-License-Identifier: Apache-2.0
// A matrix in strips of rows is transposed, as in distributed FFTs: every node puts a tile to every other one, some
// transposed by plain accesses before, others by strided puts.
#pragma once

#include <vector>

#include "tests/gpu_api/ports/common.cuh"

namespace ggas::ports {

constexpr int tile = 8;

static __global__ void transpose(args a) {
  const int me = ggas_node(), nodes = ggas_nodes(), side = nodes * tile;
  const auto words = static_cast<uint64_t>(tile * side);
  room places{a.memory};
  uint32_t* const matrix = bench::own<uint32_t>(places.take<uint32_t>(words));
  uint32_t* const turned = bench::own<uint32_t>(places.take<uint32_t>(words));
  const uint64_t landing = places.take<uint32_t>(2 * words);
  const int warp = static_cast<int>(threadIdx.x / 32), warps = static_cast<int>(blockDim.x / 32);
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) matrix[i] = value(me, round, i);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < tile * side; i += static_cast<int>(blockDim.x)) {
      const int node = i / (tile * tile), row = i / tile % tile, column = i % tile;
      turned[i] = matrix[column * side + node * tile + row];
    }
    __syncthreads();
    const uint64_t to = landing + round % 2 * words * sizeof(uint32_t);
    for (int i = warp; i < nodes * tile && s == ggas_ok; i += warps) {
      const int node = i / tile, row = i % tile;
      uint32_t* const there = ggas_pointer_of_node<uint32_t>(node, to) + row * side + me * tile;
      s = row % 2 ? ggas_put_nbi_warp(there, turned + i * tile, tile, a.timeout_ns)
                  : ggas_iput_nbi_warp(there, matrix + i, 1, side, tile, a.timeout_ns);
    }
    if (!block_agrees(s == ggas_ok)) break;
    s = ggas_barrier_block(a.timeout_ns);
    const uint32_t* const got = bench::own<uint32_t>(to);
    for (uint64_t i = threadIdx.x; i < words; i += blockDim.x) bench::own<uint32_t>(a.result)[i] += got[i];
  }
  report(a, s);
}

inline std::vector<uint32_t> want_transpose(int nodes, int node, uint64_t rounds) {
  const int side = nodes * tile;
  std::vector<uint32_t> all(static_cast<size_t>(tile * side));
  for (uint64_t round = 0; round < rounds; ++round)
    for (int row = 0; row < tile; ++row)
      for (int column = 0; column < side; ++column)
        all[static_cast<size_t>(row * side + column)] +=
            value(column / tile, round, static_cast<uint64_t>(column % tile * side + node * tile + row));
  return all;
}

}  // namespace ggas::ports
