// SPDX-License-Identifier: Apache-2.0
// Random mixes of plain and ggas_ accesses by one block, compared with a sequential model. A mix is a few accesses of
// one thread to its own cell. Then cells change owners, within warps at once, in the whole block after a block barrier.
// So for any order of the threads each mix has one result, which is added to the thread's sum and to its stores.
#pragma once

#include <cstring>

#include "benchmarks/kernels/common.cuh"

namespace ggas::mixes {

struct args {
  uint64_t cells;     // offset of a cell for each thread, and as much again for copies; zero at first
  uint64_t sums;      // of 8 bytes for each thread
  uint64_t outcomes;  // of a bench::outcome for each thread
  uint64_t seed, phases, timeout_ns;
};
constexpr unsigned threads = 64;
constexpr size_t cell_bytes = 32, cells_bytes = threads * cell_bytes;

enum class access : unsigned {
  plain_load,
  plain_store,
  plain_update,
  load,
  load_acquire,
  store,
  store_release,
  add,
  exchange,
  compare_swap,
  fence_gpu,
  fence,
  pause,
};
constexpr unsigned accesses = 13;

struct alignas(16) wide {
  uint64_t low, high;
  wide() = default;
  GGAS_HOST_DEVICE explicit wide(uint64_t v) : low(v), high(v * 3) {}
  GGAS_HOST_DEVICE explicit operator uint64_t() const { return low + 5 * high; }
};

// ---- what the block does when: drawn from the seed, the same for kernel and model

enum class ending : unsigned { barrier, vote, count, store_block, load_block, put, get };

struct phase {
  uint64_t draw;
  GGAS_HOST_DEVICE phase(uint64_t seed, uint64_t number) : draw(bench::pattern(seed, number, 1)) {}
  GGAS_HOST_DEVICE unsigned steps() const { return 1 + draw % 4; }
  // Cell of a thread in a step: first lanes change places within the warp, then threads within the block.
  GGAS_HOST_DEVICE unsigned cell(unsigned thread, unsigned step) const {
    const auto turn = static_cast<unsigned>(draw >> (4 + 4 * step)), odd = static_cast<unsigned>(draw >> 20) | 1;
    const unsigned swapped = thread / 32 * 32 + (thread % 32 * (turn | 1) + turn) % 32;
    return (swapped * odd + static_cast<unsigned>(draw >> 28)) % threads;
  }
  GGAS_HOST_DEVICE ending end() const {
    const unsigned r = draw >> 40 & 63;
    return r < 7 ? static_cast<ending>(r) : r % 2 ? ending::vote : ending::barrier;
  }
};

// The accesses of one mix on `cell`, which performs them. Its results go into `sum`.
template <class T, class Cell>
GGAS_HOST_DEVICE void one_access(Cell cell, access what, uint64_t draw, uint64_t& sum) {
  const auto at = static_cast<unsigned>(draw >> 16) % (cell_bytes / sizeof(T)) * static_cast<unsigned>(sizeof(T));
  const bool stores = what == access::plain_store || what == access::store || what == access::store_release;
  if (stores) cell.store(at, T(sum + draw), what);
  if (!stores)
    sum = sum * 31 + static_cast<uint64_t>(what == access::plain_update ? cell.update(at, T(draw))
                                                                        : cell.template load<T>(at, what));
}
template <class Cell>
GGAS_HOST_DEVICE void one_mix(Cell cell, uint64_t draw, uint64_t& sum) {
  for (uint64_t i = 0; i < 1 + draw % 6; ++i) {
    const uint64_t d = bench::pattern(draw, i, 0);
    const auto what = static_cast<access>(static_cast<unsigned>(d >> 8) % accesses);
    if (what >= access::fence_gpu) {
      cell.wait(what, static_cast<unsigned>(d >> 32));
    } else if (what >= access::add) {
      sum = sum * 31 + cell.atomic(what, static_cast<unsigned>(d >> 16) % (cell_bytes / 4), static_cast<uint32_t>(d));
    } else {
      switch (d >> 24 & 7) {
        case 0:
          one_access<uint8_t>(cell, what, d, sum);
          break;
        case 1:
          one_access<uint16_t>(cell, what, d, sum);
          break;
        case 2:
        case 3:
          one_access<uint32_t>(cell, what, d, sum);
          break;
        case 4:
        case 5:
          one_access<uint64_t>(cell, what, d, sum);
          break;
        default:
          one_access<wide>(cell, what, d, sum);
      }
    }
  }
}
GGAS_HOST_DEVICE inline uint64_t draw_of(uint64_t seed, uint64_t phase, unsigned step, unsigned thread) {
  return bench::pattern(seed + 1000 + step, phase, thread);
}

// ---- on a node

struct real_cell {
  char* bytes;
  template <class T>
  GGAS_DEVICE T* at(unsigned offset) const {
    return reinterpret_cast<T*>(bytes + offset);
  }
  // A place is accessed in several types, which C++ allows to memcpy alone: it becomes one plain access.
  template <class T>
  GGAS_DEVICE T plain(unsigned offset) const {
    T v;
    memcpy(&v, __builtin_assume_aligned(bytes + offset, sizeof v), sizeof v);
    return v;
  }
  template <class T>
  GGAS_DEVICE void set_plain(unsigned offset, T v) const {
    memcpy(__builtin_assume_aligned(bytes + offset, sizeof v), &v, sizeof v);
  }
  template <class T>
  GGAS_DEVICE void store(unsigned offset, T v, access what) const {
    if (what == access::plain_store) return set_plain(offset, v);
    if (what == access::store) return ggas_store(at<T>(offset), v);
    ggas_store(at<T>(offset), v, ggas_release);
  }
  template <class T>
  GGAS_DEVICE T load(unsigned offset, access what) const {
    if (what == access::plain_load) return plain<T>(offset);
    return what == access::load ? ggas_load(at<T>(offset)) : ggas_load(at<T>(offset), ggas_acquire);
  }
  template <class T>
  GGAS_DEVICE T update(unsigned offset, T v) const {
    const T next(static_cast<uint64_t>(plain<T>(offset)) * 3 + static_cast<uint64_t>(v));
    set_plain(offset, next);
    return next;
  }
  GGAS_DEVICE uint32_t atomic(access what, unsigned word, uint32_t v) const {
    uint32_t* const p = at<uint32_t>(4 * word);
    if (what == access::add) return atomicAdd(p, v);
    if (what == access::exchange) return atomicExch(p, v);
    const uint32_t expected = v % 2 ? plain<uint32_t>(4 * word) : v;  // at random right
    return atomicCAS(p, expected, v);
  }
  GGAS_DEVICE void wait(access what, unsigned draw) const {
    if (what == access::fence_gpu) ggas_fence_gpu();
    if (what == access::fence) ggas_fence();
    if (what == access::pause) __nanosleep(draw % 400);
  }
};

GGAS_DEVICE ggas_status end_phase(const phase& p, char* cells, uint64_t timeout_ns) {
  char* const copy = cells + cells_bytes;
  auto *const from = reinterpret_cast<wide*>(cells), *const to = reinterpret_cast<wide*>(copy);
  constexpr size_t n = cells_bytes / sizeof(wide);
  __syncthreads();
  switch (p.end()) {
    case ending::store_block:
      ggas_store_block(to, from, n);
      return ggas_ok;
    case ending::load_block:
      ggas_load_block(from, to, n);
      return ggas_ok;
    case ending::put:
      return ggas_put_block(to, from, n, timeout_ns);
    case ending::get:
      return ggas_get_block(from, to, n, timeout_ns);
    case ending::vote:
      return __syncthreads_or(0) ? ggas_bad_argument : ggas_ok;
    case ending::count:
      return __syncthreads_count(1) == threads ? ggas_ok : ggas_bad_argument;
    default:
      return ggas_ok;
  }
}

static __global__ void play(args a) {
  const unsigned me = threadIdx.x;
  char* const cells = bench::own<char>(a.cells);
  uint64_t sum = me;
  ggas_status s = ggas_ok;
  for (uint64_t number = 0; number < a.phases && s == ggas_ok; ++number) {
    const phase p(a.seed, number);
    for (unsigned step = 0; step < p.steps(); ++step) {
      one_mix(real_cell{cells + p.cell(me, step) * cell_bytes}, draw_of(a.seed, number, step, me), sum);
      __syncwarp();
    }
    s = end_phase(p, cells, a.timeout_ns);
  }
  bench::own<uint64_t>(a.sums)[me] = sum;
  bench::own<bench::outcome>(a.outcomes)[me] = {0, 0, 0, static_cast<uint64_t>(s)};
}

}  // namespace ggas::mixes
