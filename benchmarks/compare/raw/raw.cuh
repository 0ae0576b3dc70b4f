// SPDX-License-Identifier: Apache-2.0
// Kernels of raw.cu: what the hardware does with bare instructions, without any library.
#pragma once

#include "benchmarks/compare/raw/device.cuh"
#include "benchmarks/kernels/random_access/hpcc_stream.cuh"

namespace ggas::compare {

// One thread on each of two GPUs. `base` is the last number of the run before. The clock starts after the first round,
// when both kernels are running.
template <bool ordered>
__global__ void raw_pingpong(uint64_t* mine, uint64_t* theirs, bool first, uint64_t rounds, uint64_t base,
                             outcome* out) {
  uint64_t begin = 0;
  bool good = true;
  for (uint64_t i = 0; i <= rounds && good; ++i) {
    if (i == 1) begin = time_ns();
    if (first) store_flag<ordered>(theirs, base + i + 1);
    good = reaches<ordered>(mine, base + i + 1);
    if (!first) store_flag<ordered>(theirs, base + i + 1);
  }
  *out = {time_ns() - begin, !good};
}

enum class fencing { none, before };

// Every GPU sets a flag on every other one (thread t on GPU t), then all of them wait. With a fence before it, earlier
// stores of the block's other threads are visible to readers of the flag: a barrier.
template <fencing fence>
__global__ void raw_exchange(peers all, uint64_t rounds, uint64_t base, outcome* out) {
  const int t = static_cast<int>(threadIdx.x);
  const bool active = t < all.count && t != all.me;
  uint64_t begin = 0;
  bool good = true;
  for (uint64_t i = 0; i <= rounds && good; ++i) {
    if (i == 1) begin = time_ns();
    __syncthreads();
    if (active) {
      if constexpr (fence == fencing::before) __threadfence_system();
      store_flag<false>(all.flags[t] + all.me, base + i + 1);
      good = reaches<fence == fencing::before>(all.flags[all.me] + t, base + i + 1);
    }
    good = __syncthreads_and(good);
  }
  if (t == 0) *out = {time_ns() - begin, !good};
}

// Copies 16 bytes at a time, eight loads ahead: `to` or `from` is a peer's.
__global__ void __launch_bounds__(1024) raw_copy(const uint4* from, uint4* to, uint64_t count) {
  copy_ahead<8>(from, to, count, uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, uint64_t{gridDim.x} * blockDim.x);
}

// The bulk-copy unit, from shared memory: what the link takes when nothing has to be read first. One thread a block.
inline constexpr uint32_t bulk_bytes = 16384;
__global__ void raw_bulk(char* to, uint64_t bytes) {
  extern __shared__ __align__(128) char source[];
  for (uint32_t i = threadIdx.x; i < bulk_bytes; i += blockDim.x) source[i] = static_cast<char>(i);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  const auto from = static_cast<uint32_t>(__cvta_generic_to_shared(source));
  for (uint64_t at = uint64_t{blockIdx.x} * bulk_bytes; at < bytes; at += uint64_t{gridDim.x} * bulk_bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + at), "r"(from),
                 "r"(bulk_bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 8;" ::: "memory");
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// Small messages: a word of 8 bytes from each thread to a place of its own.
__global__ void raw_values(uint64_t* to, uint64_t count, uint64_t words_apart) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x, t = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (uint64_t i = 0; i < count; ++i) store_flag<false>(to + (i * threads + t) * words_apart, i);
}

// Adds of threads to floats, each a place of its own.
__global__ void raw_float_adds(float* to, uint64_t count, uint64_t floats_apart) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x, t = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (uint64_t i = 0; i < count; ++i)
    asm volatile("red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(to + (i * threads + t) * floats_apart), "f"(1.0f)
                 : "memory");
}

// 64 bytes from each warp to a place of its own, one such put of a warp under way: four lanes load and store.
__global__ void raw_warp_puts(const uint4* from, uint4* to, uint64_t count) {
  const uint64_t warps = uint64_t{gridDim.x} * blockDim.x / 32, lane = threadIdx.x % 32;
  const uint64_t w = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = (i * warps + w) * (put_bytes / 16) + lane;
    if (lane < put_bytes / 16) {
      uint4 v;
      asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "l"(from + at)
                   : "memory");
      asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to + at), "r"(v.x), "r"(v.y), "r"(v.z),
                   "r"(v.w)
                   : "memory");
    }
    __syncwarp();
  }
}

// RandomAccess by bare atomics on tables of 2^log2_words words a GPU, the first `tables` of `all` from GPU `begin` on.
template <bool system>
__global__ void raw_updates(peers all, int begin, int tables, int log2_words, uint64_t updates) {
  const uint64_t threads = uint64_t{gridDim.x} * blockDim.x, t = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const uint64_t share = updates / threads;
  uint64_t number = bench::hpcc_stream::at((static_cast<uint64_t>(all.me) * threads + t) * share);
  for (uint64_t i = 0; i < share; ++i) {
    number = bench::hpcc_stream::next(number);
    const uint64_t table = (number >> log2_words) % static_cast<uint64_t>(tables);
    auto* const word = reinterpret_cast<unsigned long long*>(all.data[begin + static_cast<int>(table)]) +
                       (number & ((uint64_t{1} << log2_words) - 1));
    if constexpr (system) {
      asm volatile("red.relaxed.sys.global.xor.b64 [%0], %1;" ::"l"(word), "l"(number) : "memory");
    } else {
      asm volatile("red.relaxed.gpu.global.xor.b64 [%0], %1;" ::"l"(word), "l"(number) : "memory");
    }
  }
}

}  // namespace ggas::compare
