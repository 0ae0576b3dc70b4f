// SPDX-License-Identifier: Apache-2.0
// Jacobi's method in two dimensions: the computation of a step, for kernels of every library. The grid has n columns
// and n rows between two more that are fixed, as the outer columns are. Each GPU has a slice of rows, and halos around
// it.
#pragma once

#include <cstdint>

namespace ggas::bench {

struct jacobi_slice {
  uint32_t n;      // columns, a multiple of 4
  uint32_t rows;   // of the slice
  uint32_t first;  // row of the grid that row 1 of the slice is; its rows 0 and rows + 1 are halos
  __host__ __device__ uint64_t floats() const { return uint64_t{n} * (rows + 2); }
};

// Slices of equal height, the first ones a row higher where they do not come out even.
__host__ __device__ inline jacobi_slice jacobi_slice_of(uint32_t n, int node, int nodes) {
  const auto me = static_cast<uint32_t>(node), all = static_cast<uint32_t>(nodes), more = n % all;
  return {n, n / all + (me < more ? 1 : 0), 1 + me * (n / all) + (me < more ? me : more)};
}

__host__ __device__ inline float jacobi_start(uint32_t row, uint32_t column) {
  return static_cast<float>((row * 31 + column * 17) % 97);
}
__host__ __device__ inline float jacobi_point(float up, float down, float left, float right) {
  return ((left + right) + (up + down)) * 0.25f;
}

#ifdef __CUDACC__
// Rows of a block: [begin, end) of 1 ... rows.
struct jacobi_strip {
  uint32_t begin, end;
  __device__ explicit jacobi_strip(const jacobi_slice& s)
      : begin(1 + s.rows * blockIdx.x / gridDim.x), end(1 + s.rows * (blockIdx.x + 1) / gridDim.x) {}
  __device__ bool top() const { return begin == 1 && end > 1; }
  __device__ bool bottom(const jacobi_slice& s) const { return end == s.rows + 1 && begin < end; }
};

// Past the first-level cache, which does not see what other multiprocessors and GPUs store.
__device__ inline float4 jacobi_quad(const float* at) { return __ldcg(reinterpret_cast<const float4*>(at)); }

// A step of a block's rows. Four columns a thread: the widest access.
__device__ inline void jacobi_step(const jacobi_slice& s, const jacobi_strip& strip, const float* from, float* to) {
  const uint32_t quads = s.n / 4, all = (strip.end - strip.begin) * quads;
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    const uint32_t column = i % quads * 4;
    const uint64_t place = uint64_t{strip.begin + i / quads} * s.n + column;
    const float* const at = from + place;
    const float4 here = jacobi_quad(at), up = jacobi_quad(at - s.n), down = jacobi_quad(at + s.n);
    const float left = column == 0 ? 0 : __ldcg(at - 1), right = column + 4 == s.n ? 0 : __ldcg(at + 4);
    float4 next = {jacobi_point(up.x, down.x, left, here.y), jacobi_point(up.y, down.y, here.x, here.z),
                   jacobi_point(up.z, down.z, here.y, here.w), jacobi_point(up.w, down.w, here.z, right)};
    if (column == 0) next.x = here.x;
    if (column + 4 == s.n) next.w = here.w;
    *reinterpret_cast<float4*>(to + place) = next;
  }
}

// Both copies as at the start.
__device__ inline void jacobi_fill_slice(const jacobi_slice& s, float* one, float* other) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < s.floats(); i += step)
    one[i] = other[i] = jacobi_start(static_cast<uint32_t>(i / s.n) + s.first - 1, static_cast<uint32_t>(i % s.n));
}
#endif

}  // namespace ggas::bench
