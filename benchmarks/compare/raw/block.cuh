// SPDX-License-Identifier: Apache-2.0
// The least that blocks of each GPU need, written by hand for one purpose: puts with a flag after them, and collectives
// by one block or by every block of a grid independently. No arguments are checked, waits count polls, and vectors lie
// at the same offset on all GPUs.
#pragma once

#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/raw/device.cuh"

namespace ggas::compare {

// A block puts data and then a flag; the receiving block answers in the same way. Checked: every round has other data,
// whose keys continue the given ones, and the received data are checked.
struct put_call {
  uint64_t *from, *to, *came;
  uint64_t bytes;
  const uint64_t* mine;
  uint64_t* theirs;
  bool first;
  uint64_t rounds, base;
  uint64_t here, there;  // keys of what this one and the peer send
};
template <class W, bool checked>
__global__ void __launch_bounds__(1024) raw_put_signal(put_call c, outcome* out) {
  const auto send = [&](uint64_t i) {
    if constexpr (checked) {
      give_block(c.here + 2 * i, c.from, c.bytes / 8);
      __syncthreads();
    }
    copy_ahead<8>(reinterpret_cast<const W*>(c.from), reinterpret_cast<W*>(c.to), c.bytes / sizeof(W), threadIdx.x,
                  blockDim.x);
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence_system();
    store_flag<false>(c.theirs, c.base + i + 1);
  };
  uint64_t begin = 0;
  bool good = true;
  for (uint64_t i = 0; i <= c.rounds && good; ++i) {
    if (i == 1) begin = time_ns();
    if (c.first) send(i);
    good = __syncthreads_and(threadIdx.x != 0 || reaches<true>(c.mine, c.base + i + 1));
    if constexpr (checked) {
      if (__syncthreads_or(wrong_in_block(c.there + 2 * i, c.came, c.bytes / 8) != 0)) good = false;
    }
    if (!c.first) send(i);
  }
  if (threadIdx.x == 0) *out = {time_ns() - begin, !good};
}

// ---------------------------------------------------------------- collectives

// A collective of every block: its part of the vectors follows those of the blocks before it, and it has separate flags
// and lines.
struct block_call {
  vectors each;  // of a block
  float* in;
  size_t elements;  // of a part of a block
  uint64_t rounds, base;
  outcome* out;
  size_t before;  // elements of the blocks before this one
};
__device__ inline block_call of_this_block(block_call c) {
  c.before = size_t{blockIdx.x} * c.elements;
  c.in += c.before * static_cast<size_t>(c.each.parts_in());
  c.out += blockIdx.x;
  return c;
}

// Places of flags of a block: of GPU t at word t.
inline constexpr int free_flags = 16, done_flags = 32, meeting_flags = 48, flags_of_block = 64;
static_assert(flags_of_block * static_cast<int>(most_blocks) <= flag_words);
__device__ inline uint64_t* flag_at(const peers& all, int gpu, int place) {
  return all.flags[gpu] + flags_of_block * blockIdx.x + place;
}

// Which GPUs exchange data in a collective, as thread t of GPU `me` sees GPU t.
template <moved What>
struct relation {
  bool gets, gives;  // GPU t gets data from here; has data for here
  __device__ relation(const peers& all, int t) {
    const bool other = t < all.count && t != all.me;
    gets = other && (What != moved::broadcast || all.me == 0);
    gives = other && (What != moved::broadcast || t == 0);
  }
};

template <moved What>
__device__ const float* part_for(const block_call& c, int to) {
  return c.in + (What == moved::alltoall ? static_cast<size_t>(to) * c.elements : 0);
}
template <moved What>
__device__ float* place_at(const peers& all, const block_call& c, int gpu, int from) {
  const size_t part = What == moved::broadcast || What == moved::allreduce ? 0 : static_cast<size_t>(from);
  return reinterpret_cast<float*>(all.data[gpu]) + c.before * static_cast<size_t>(all.count) + part * c.elements;
}

// Every member is here; what was stored before is visible.
__device__ inline bool meet(const peers& all, uint64_t number) {
  const int t = static_cast<int>(threadIdx.x);
  bool good = true;
  __syncthreads();
  if (t < all.count && t != all.me) {
    __threadfence_system();
    store_flag<false>(flag_at(all, t, meeting_flags + all.me), number);
    good = reaches<true>(flag_at(all, all.me, meeting_flags + t), number);
  }
  return __syncthreads_and(good) != 0;
}

// Calls round(number, i) repeatedly and measures the time after the first one. It must return the same in all threads
// of the block. Checked: each round has other data and an overwritten destination, and the whole result is checked.
template <bool checked, class Round>
__device__ void block_rounds(const peers& all, const block_call& c, float* out, Round round) {
  uint64_t begin = 0;
  bool good = true;
  for (uint64_t i = 0; i <= c.rounds && good; ++i) {
    if (i == 1) begin = time_ns();
    if constexpr (checked) {
      block_vectors mine(c.each, c.in, out);
      mine.in = c.in, mine.out = out;
      mine.give(i);
      good = meet(all, c.base + i + 1) && round(c.base + i + 1, i) && !__syncthreads_or(mine.wrong(i) != 0);
    } else {
      good = round(c.base + i + 1, i);
    }
  }
  if (threadIdx.x == 0) *c.out = {time_ns() - begin, !good};
}

// Own data of all GPUs that get it from here, this one included, in elements of W.
template <moved What, class W>
__device__ void store_parts(const peers& all, const block_call& c) {
  const auto n = static_cast<uint32_t>(c.elements * sizeof(float) / sizeof(W));
  const auto gpu = [&](uint64_t at) { return (all.me + static_cast<int>(static_cast<uint32_t>(at) / n)) % all.count; };
  move_ahead<4>(
      uint64_t{n} * static_cast<uint64_t>(all.count), threadIdx.x, blockDim.x,
      [&](uint64_t at) {
        return reinterpret_cast<const W*>(part_for<What>(c, gpu(at)))[static_cast<uint32_t>(at) % n];
      },
      [&](uint64_t at, W v) {
        reinterpret_cast<W*>(place_at<What>(all, c, gpu(at), all.me))[static_cast<uint32_t>(at) % n] = v;
      });
}

// Straight into the destination: reported that it is free, stores, a fence and a flag.
template <moved What, bool checked>
__global__ void __launch_bounds__(1024) raw_direct(peers all, block_call whole) {
  const block_call c = of_this_block(whole);
  const int t = static_cast<int>(threadIdx.x);
  const relation<What> r(all, t);
  block_rounds<checked>(all, c, place_at<What>(all, c, all.me, 0), [&](uint64_t number, uint64_t) {
    if (r.gives) store_flag<false>(flag_at(all, t, free_flags + all.me), number);
    if (!__syncthreads_and(!r.gets || reaches<false>(flag_at(all, all.me, free_flags + t), number))) return false;
    if (What != moved::broadcast || all.me == 0) {
      if (c.elements % 4 == 0) {
        store_parts<What, float4>(all, c);
      } else {
        store_parts<What, float>(all, c);
      }
    }
    __syncthreads();
    if (r.gets) {
      __threadfence_system();
      store_flag<false>(flag_at(all, t, done_flags + all.me), number);
    }
    return __syncthreads_and(!r.gives || reaches<true>(flag_at(all, all.me, done_flags + t), number)) != 0;
  });
}

// Two floats with a number next to each, so that who finds the numbers has the data: no fence and no flag.
inline constexpr size_t stage_offset = size_t{512} << 20, most_lines = 32768;  // of all blocks

__device__ inline uint64_t* line_at(const peers& all, const block_call& c, int gpu, uint64_t number, int from,
                                    uint64_t j) {
  const uint64_t slot = (number % 2) * most_gpus + static_cast<uint64_t>(from);
  return reinterpret_cast<uint64_t*>(all.data[gpu] + stage_offset) + 2 * (slot * most_lines + (c.before + 1) / 2 + j);
}
__device__ inline void store_line(uint64_t* line, float2 v, uint64_t number) {
  const uint64_t tag = number << 32;
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(line), "l"(tag | __float_as_uint(v.x)),
               "l"(tag | __float_as_uint(v.y))
               : "memory");
}
__device__ inline bool read_line(const uint64_t* line, float2& v, uint64_t number) {
  for (uint64_t i = 0; i < most_polls; ++i) {
    uint64_t a, b;
    asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(line) : "memory");
    v = {__uint_as_float(static_cast<uint32_t>(a)), __uint_as_float(static_cast<uint32_t>(b))};
    if ((a >> 32) == (number & 0xffffffff) && (b >> 32) == (number & 0xffffffff)) return true;
  }
  return false;
}

__device__ inline float2 read_pair(const float* from, size_t elements, uint64_t j) {
  return {from[2 * j], 2 * j + 1 < elements ? from[2 * j + 1] : 0};
}
__device__ inline void write_pair(float* to, size_t elements, uint64_t j, float2 v) {
  to[2 * j] = v.x;
  if (2 * j + 1 < elements) to[2 * j + 1] = v.y;
}

// Lines of all other GPUs, and the own part.
template <moved What>
__device__ bool take_lines(const peers& all, const block_call& c, uint64_t number) {
  const uint64_t lines = (c.elements + 1) / 2, steps = static_cast<uint64_t>(all.count);
  bool good = true;
  for (uint64_t at = threadIdx.x; at < lines * steps && good; at += blockDim.x) {
    const int from = (all.me + static_cast<int>(at / lines)) % all.count;
    const uint64_t j = at % lines;
    if (What == moved::broadcast && from != 0) continue;
    float2 v = read_pair(part_for<What>(c, all.me), c.elements, j);
    if (from != all.me) good = read_line(line_at(all, c, all.me, number, from, j), v, number);
    write_pair(place_at<What>(all, c, all.me, from), c.elements, j, v);
  }
  return good;
}
// The sum of all members' elements, in the order of GPUs.
__device__ inline bool add_lines(const peers& all, const block_call& c, uint64_t number) {
  bool good = true;
  for (uint64_t j = threadIdx.x; j < (c.elements + 1) / 2 && good; j += blockDim.x) {
    float2 sum = {0, 0};
    for (int from = 0; from < all.count && good; ++from) {
      float2 v = read_pair(c.in, c.elements, j);
      if (from != all.me) good = read_line(line_at(all, c, all.me, number, from, j), v, number);
      sum = {sum.x + v.x, sum.y + v.y};
    }
    write_pair(place_at<moved::allreduce>(all, c, all.me, 0), c.elements, j, sum);
  }
  return good;
}

// Two slots are used in turn. If every member receives from every other one, a member that sends number n has read
// number n - 1 from all members. A member reads n - 2 before it sends n - 1, so slot n % 2 is free. In a broadcast only
// the root sends; there the readers notify the root instead.
template <moved What, bool checked>
__global__ void __launch_bounds__(1024) raw_lines(peers all, block_call whole) {
  const block_call c = of_this_block(whole);
  const int t = static_cast<int>(threadIdx.x);
  const relation<What> r(all, t);
  const uint64_t lines = (c.elements + 1) / 2;
  block_rounds<checked>(all, c, place_at<What>(all, c, all.me, 0), [&](uint64_t number, uint64_t i) {
    if (What == moved::broadcast) {
      const bool wait = r.gets && i >= 2;
      if (!__syncthreads_and(!wait || reaches<false>(flag_at(all, all.me, free_flags + t), number - 2))) return false;
    }
    if (What != moved::broadcast || all.me == 0) {
      for (uint64_t at = threadIdx.x; at < lines * static_cast<uint64_t>(all.count - 1); at += blockDim.x) {
        const int to = (all.me + 1 + static_cast<int>(at / lines)) % all.count;
        const uint64_t j = at % lines;
        store_line(line_at(all, c, to, number, all.me, j), read_pair(part_for<What>(c, to), c.elements, j), number);
      }
    }
    const bool good = What == moved::allreduce ? add_lines(all, c, number) : take_lines<What>(all, c, number);
    const bool all_good = __syncthreads_and(good) != 0;
    if (What == moved::broadcast && r.gives) store_flag<false>(flag_at(all, t, free_flags + all.me), number);
    return all_good;
  });
}

}  // namespace ggas::compare
