// SPDX-License-Identifier: Apache-2.0
// Kernels written by hand for each layout, launched as the library's kernels are: the limit of the benchmarks of
// datatypes. Widths and strides are powers of two known at compile time; only these kernels know that.
#pragma once

#include "benchmarks/plans/typed_patterns.hpp"
#include "ggas/on_stream.cuh"

namespace ggas::bench {

constexpr unsigned hand_threads = 256, hand_at_once = 4, struct_bytes = 17;

// Rows of 2^log2 T from place to place; a list names places in elements of 8 bytes.
template <class T>
static __global__ void rows_by_hand(T* to, uint64_t to_stride, const T* from, uint64_t from_stride, unsigned log2,
                                    uint32_t units) {
  ggas_after_stream();
  const uint32_t turn = gridDim.x * blockDim.x, mask = (1u << log2) - 1;
  for (uint32_t base = blockIdx.x * blockDim.x + threadIdx.x; base < units; base += hand_at_once * turn) {
    T v[hand_at_once];
#pragma unroll
    for (unsigned w = 0; w < hand_at_once; ++w) {
      const uint32_t i = base + w * turn;
      if (i < units) v[w] = from[(i >> log2) * from_stride + (i & mask)];
    }
#pragma unroll
    for (unsigned w = 0; w < hand_at_once; ++w) {
      const uint32_t i = base + w * turn;
      if (i < units) to[(i >> log2) * to_stride + (i & mask)] = v[w];
    }
  }
}

template <class T>
static __global__ void list_by_hand(T* to, const double* from, const int64_t* places, unsigned log2, uint32_t units) {
  ggas_after_stream();
  const uint32_t turn = gridDim.x * blockDim.x, mask = (1u << log2) - 1;
  for (uint32_t base = blockIdx.x * blockDim.x + threadIdx.x; base < units; base += hand_at_once * turn) {
    T v[hand_at_once];
#pragma unroll
    for (unsigned w = 0; w < hand_at_once; ++w) {
      const uint32_t i = base + w * turn;
      if (i < units) v[w] = reinterpret_cast<const T*>(from + places[i >> log2])[i & mask];
    }
#pragma unroll
    for (unsigned w = 0; w < hand_at_once; ++w)
      if (base + w * turn < units) to[base + w * turn] = v[w];
  }
}

// An item a thread, put together in shared memory: what leaves is in pieces of 16 bytes.
template <unsigned Size, unsigned Ints, unsigned Char>
static __global__ void structs_by_hand(uint4* to, const char* from, uint64_t items) {
  ggas_after_stream();
  __shared__ alignas(16) char packed[hand_threads * struct_bytes];
  for (uint64_t base = uint64_t{blockIdx.x} * hand_threads; base < items; base += uint64_t{gridDim.x} * hand_threads) {
    if (base + threadIdx.x < items) {
      const char* const item = from + (base + threadIdx.x) * Size;
      char* const out = packed + threadIdx.x * struct_bytes;
      const double d = *reinterpret_cast<const double*>(item);
      const int2 i = *reinterpret_cast<const int2*>(item + Ints);
      memcpy(out, &d, 8);
      memcpy(out + 8, &i, 8);
      out[16] = item[Char];
    }
    __syncthreads();
    const uint64_t here = items - base < hand_threads ? items - base : hand_threads;
    for (uint64_t w = threadIdx.x; w < here * struct_bytes / 16; w += hand_threads)
      to[base * struct_bytes / 16 + w] = reinterpret_cast<const uint4*>(packed)[w];
    __syncthreads();
  }
}

static unsigned log2_of(uint64_t v) {
  unsigned log2 = 0;
  while (uint64_t{1} << (log2 + 1) <= v) ++log2;
  return log2;
}
static unsigned hand_blocks(uint64_t units) {
  const uint64_t blocks = (units + hand_threads - 1) / hand_threads;
  return static_cast<unsigned>(blocks < 132 * 8 ? blocks : 132 * 8);
}

// Rows from stride to stride; `to` may be a peer's.
[[maybe_unused]] static result<> queue_rows_by_hand(cluster& c, int node, char* to, uint64_t to_stride,
                                                    const char* from, const typed_pattern& p) {
  const auto units = static_cast<uint32_t>(p.bytes / 8);
  if (p.width % 2 == 0)
    return launch_dependent(c, node, hand_blocks(units / 2), hand_threads, rows_by_hand<double2>,
                            reinterpret_cast<double2*>(to), to_stride / 2, reinterpret_cast<const double2*>(from),
                            p.stride / 2, log2_of(p.width / 2), units / 2);
  return launch_dependent(c, node, hand_blocks(units), hand_threads, rows_by_hand<double>,
                          reinterpret_cast<double*>(to), to_stride, reinterpret_cast<const double*>(from), p.stride,
                          log2_of(p.width), units);
}

// A pack; `places` as the pattern's, in memory of the GPU.
[[maybe_unused]] static result<> queue_pack_by_hand(cluster& c, int node, char* to, const char* from,
                                                    const int64_t* places, const typed_pattern& p) {
  const auto units = static_cast<uint32_t>(p.bytes / 8);
  const auto* const doubles = reinterpret_cast<const double*>(from);
  switch (p.kind) {
    case layout_kind::rows:
      return queue_rows_by_hand(c, node, to, p.width, from, p);
    case layout_kind::structs:
      return launch_dependent(c, node, hand_blocks(p.count), hand_threads, structs_by_hand<24, 8, 16>,
                              reinterpret_cast<uint4*>(to), from, p.count);
    case layout_kind::spread_structs:
      return launch_dependent(c, node, hand_blocks(p.count), hand_threads, structs_by_hand<48, 16, 40>,
                              reinterpret_cast<uint4*>(to), from, p.count);
    default:
      break;
  }
  if (p.width % 2 == 0)
    return launch_dependent(c, node, hand_blocks(units / 2), hand_threads, list_by_hand<double2>,
                            reinterpret_cast<double2*>(to), doubles, places, log2_of(p.width / 2), units / 2);
  return launch_dependent(c, node, hand_blocks(units), hand_threads, list_by_hand<double>,
                          reinterpret_cast<double*>(to), doubles, places, log2_of(p.width), units);
}

}  // namespace ggas::bench
