// SPDX-License-Identifier: Apache-2.0
// Data of the compared transfers: every member sends other data in every run, and checks the received ones. The kernels
// run before and after the measured ones, outside of the measured time. Included by one file of a program.
#pragma once

#include "benchmarks/compare/gpu.cuh"

namespace ggas::compare {

enum class moved { allreduce, reduce, broadcast, allgather, alltoall, reducescatter, gather, scatter };

inline const char* name_of(moved what) {
  constexpr const char* names[] = {"allreduce", "reduce",        "broadcast", "allgather",
                                   "alltoall",  "reducescatter", "gather",    "scatter"};
  return names[static_cast<int>(what)];
}

// A collective of float vectors as GPU `me` of `count` sees it; root is GPU 0.
struct vectors {
  moved what;
  int me, count;
  size_t elements;
  uint64_t run;

  // A part for every other GPU, or from every other one.
  __host__ __device__ bool many_in() const {
    return what == moved::alltoall || what == moved::reducescatter || what == moved::scatter;
  }
  __host__ __device__ bool many_out() const {
    return what == moved::allgather || what == moved::alltoall || what == moved::gather;
  }
  __host__ __device__ int parts_in() const { return many_in() ? count : 1; }
  __host__ __device__ int parts_out() const {
    if ((what == moved::reduce || what == moved::gather) && me != 0) return 0;
    return many_out() ? count : 1;
  }
  // What GPU `from` has for GPU `to`: small whole numbers, so that sums are exact in any order.
  __device__ float given(int from, int to, size_t i) const {
    const uint64_t pair = static_cast<uint64_t>(from) * 31 + (many_in() ? static_cast<uint64_t>(to) * 17 : 0);
    return static_cast<float>((run * 59 + pair + i) % 251);
  }
  __device__ float due(int part, size_t i) const {
    if (many_out()) return given(part, me, i);
    if (what == moved::broadcast || what == moved::scatter) return given(0, me, i);
    float sum = 0;
    for (int from = 0; from < count; ++from) sum += given(from, me, i);
    return sum;
  }
};

template <class F>
__device__ void for_each(size_t n, F f) {
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x) f(i);
}

__device__ inline void add_wrong(uint64_t wrong, outcome* out) {
  if (wrong)
    atomicAdd_system(reinterpret_cast<unsigned long long*>(&out->failed), static_cast<unsigned long long>(wrong));
}

static __global__ void give_vectors(vectors v, float* in, float* out) {
  for_each(v.elements * static_cast<size_t>(v.parts_in()),
           [&](size_t at) { in[at] = v.given(v.me, static_cast<int>(at / v.elements), at % v.elements); });
  for_each(v.elements * static_cast<size_t>(v.parts_out()), [&](size_t at) { out[at] = -1; });
}

static __global__ void check_vectors(vectors v, const float* out, outcome* found) {
  uint64_t wrong = 0;
  for_each(v.elements * static_cast<size_t>(v.parts_out()),
           [&](size_t at) { wrong += out[at] != v.due(static_cast<int>(at / v.elements), at % v.elements); });
  add_wrong(wrong, found);
}

// A grid's collective is made of collectives of single blocks. `v` describes one block's vectors: they follow those of
// the blocks before it, and have their own data.
struct block_vectors {
  vectors v;
  float *in, *out;

  __device__ block_vectors(vectors each, float* all_in, float* all_out) : v(each) {
    const size_t before = size_t{blockIdx.x} * each.elements;
    in = all_in + before * static_cast<size_t>(each.parts_in());
    out = all_out + before * static_cast<size_t>(each.count);
    v.run += 7 * uint64_t{blockIdx.x};
  }
  __device__ void give(uint64_t round) {
    vectors now = v;
    now.run += round;
    for (size_t at = threadIdx.x; at < v.elements * static_cast<size_t>(v.parts_in()); at += blockDim.x)
      in[at] = now.given(v.me, static_cast<int>(at / v.elements), at % v.elements);
    for (size_t at = threadIdx.x; at < v.elements * static_cast<size_t>(v.parts_out()); at += blockDim.x) out[at] = -1;
  }
  __device__ uint64_t wrong(uint64_t round) {
    vectors now = v;
    now.run += round;
    uint64_t found = 0;
    for (size_t at = threadIdx.x; at < v.elements * static_cast<size_t>(v.parts_out()); at += blockDim.x)
      found +=
          *const_cast<const volatile float*>(out + at) != now.due(static_cast<int>(at / v.elements), at % v.elements);
    return found;
  }
};
static __global__ void give_blocks(vectors each, float* in, float* out) { block_vectors(each, in, out).give(0); }
static __global__ void check_blocks_of(vectors each, float* in, float* out, outcome* found) {
  add_wrong(block_vectors(each, in, out).wrong(0), found);
}

// Words of a put; key 0: all zero.
__device__ inline uint64_t word_of(uint64_t key, size_t i) { return key * (0x9e3779b97f4a7c15u * i + 1); }

static __global__ void give_words(uint64_t key, uint64_t* words, size_t count) {
  for_each(count, [&](size_t i) { words[i] = word_of(key, i); });
}
// By a block.
__device__ inline void give_block(uint64_t key, uint64_t* words, size_t count) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) words[i] = word_of(key, i);
}
__device__ inline uint64_t wrong_in_block(uint64_t key, const uint64_t* words, size_t count) {
  uint64_t wrong = 0;
  for (size_t i = threadIdx.x; i < count; i += blockDim.x)
    wrong += *const_cast<const volatile uint64_t*>(words + i) != word_of(key, i);
  return wrong;
}

// Every `step`-th of them.
static __global__ void check_words(uint64_t key, const uint64_t* words, size_t count, outcome* found, size_t step = 1) {
  uint64_t wrong = 0;
  for_each(count, [&](size_t i) { wrong += words[i * step] != word_of(key, i * step); });
  add_wrong(wrong, found);
}

// What GPU `me` puts in a run.
inline uint64_t key_of(uint64_t run, int me) { return 2 * (16 * run + static_cast<uint64_t>(me)) + 1; }

inline constexpr unsigned check_blocks = 264, check_threads = 256;

}  // namespace ggas::compare
