// SPDX-License-Identifier: Apache-2.0
// What the kernels of bare CUDA share: the GPUs' memory, flags, a copy.
#pragma once

#include "benchmarks/compare/gpu.cuh"

namespace ggas::compare {

inline constexpr int most_gpus = 16;
// Places for a flag that is timed: 4 KB and a line apart, because the way to it depends on the page and on the line.
inline constexpr int flag_places = 32, flag_step = (4096 + 128) / 8;
inline constexpr int flag_words = flag_places * flag_step;
struct peers {
  uint64_t* flags[most_gpus];  // of each GPU: flag_words numbers that only grow
  char* data[most_gpus];
  int me, count;
};

template <bool ordered>
__device__ void store_flag(uint64_t* p, uint64_t v) {
  if constexpr (ordered) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
  } else {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
  }
}
template <bool ordered>
__device__ uint64_t load_flag(const uint64_t* p) {
  uint64_t v;
  if constexpr (ordered) {
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  } else {
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  }
  return v;
}

// True once *p >= v. Flags only grow.
template <bool ordered>
__device__ bool reaches(const uint64_t* p, uint64_t v) {
  for (uint64_t i = 0; i < most_polls; ++i)
    if (load_flag<ordered>(p) >= v) return true;
  return false;
}

// put(i, get(i)) for i, i + step, ... below `count`; `ahead` loads are on the way at once.
template <int ahead, class Get, class Put>
__device__ void move_ahead(uint64_t count, uint64_t i, uint64_t step, Get get, Put put) {
  for (; i + (ahead - 1) * step < count; i += ahead * step) {
    decltype(get(i)) v[ahead];
#pragma unroll
    for (int k = 0; k < ahead; ++k) v[k] = get(i + k * step);
#pragma unroll
    for (int k = 0; k < ahead; ++k) put(i + k * step, v[k]);
  }
  for (; i < count; i += step) put(i, get(i));
}
template <int ahead, class W>
__device__ void copy_ahead(const W* from, W* to, uint64_t count, uint64_t i, uint64_t step) {
  move_ahead<ahead>(
      count, i, step, [&](uint64_t at) { return from[at]; }, [&](uint64_t at, W v) { to[at] = v; });
}

}  // namespace ggas::compare
