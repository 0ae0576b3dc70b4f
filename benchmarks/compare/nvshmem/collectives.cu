// SPDX-License-Identifier: Apache-2.0
// Collectives called in a running kernel, in sequence, with NVSHMEM: by one block, and by every block of a
// grid over a team of its own.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem/nvshmem.cuh"

namespace ggas::compare {

namespace {

struct operands {
  nvshmem_team_t team;
  float *to, *from;
  size_t elements;
};

struct allreduce {
  static constexpr moved what = moved::allreduce;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_sum_reduce_block(o.team, o.to, o.from, o.elements);
  }
};
struct broadcast {
  static constexpr moved what = moved::broadcast;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_broadcast_block(o.team, o.to, o.from, o.elements, 0);
  }
};
struct allgather {
  static constexpr moved what = moved::allgather;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_fcollect_block(o.team, o.to, o.from, o.elements);
  }
};
struct alltoall {
  static constexpr moved what = moved::alltoall;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_alltoall_block(o.team, o.to, o.from, o.elements);
  }
};
struct reducescatter {
  static constexpr moved what = moved::reducescatter;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_sum_reducescatter_block(o.team, o.to, o.from, o.elements);
  }
};

// NVSHMEM has no gather and no scatter: puts, and a barrier that completes them.
struct gather {
  static constexpr moved what = moved::gather;
  static __device__ int call(const operands& o) {
    const auto part = static_cast<size_t>(nvshmem_team_my_pe(o.team)) * o.elements;
    nvshmemx_float_put_nbi_block(o.to + part, o.from, o.elements, 0);
    return nvshmemx_barrier_block(o.team);
  }
};
struct scatter {
  static constexpr moved what = moved::scatter;
  static __device__ int call(const operands& o) {
    if (nvshmem_team_my_pe(o.team) == 0) {
      for (int pe = 0; pe < nvshmem_team_n_pes(o.team); ++pe)
        nvshmemx_float_put_nbi_block(o.to, o.from + static_cast<size_t>(pe) * o.elements, o.elements, pe);
    }
    return nvshmemx_barrier_block(o.team);
  }
};

// Teams of the blocks of a grid.
struct block_teams {
  nvshmem_team_t of[most_blocks];
};

__device__ operands operands_of(const block_vectors& mine, const block_teams& teams) {
  return {teams.of[blockIdx.x], mine.out, mine.in, mine.v.elements};
}

template <class collective, int most_threads>
__global__ void __launch_bounds__(most_threads)
    collective_rounds(vectors each, block_teams teams, float* in, float* to, uint64_t rounds, outcome* out) {
  const operands o = operands_of(block_vectors(each, in, to), teams);
  nvshmemx_barrier_block(o.team);  // all GPUs begin together
  const uint64_t begin = time_ns();
  int status = 0;
  for (uint64_t i = 0; i < rounds; ++i) status |= collective::call(o);
  if (threadIdx.x == 0) out[blockIdx.x] = {time_ns() - begin, static_cast<uint64_t>(status != 0)};
}

// The same calls, each with other data into a destination that was overwritten; all of every result is looked at.
template <class collective, int most_threads>
__global__ void __launch_bounds__(most_threads)
    checked_rounds(vectors each, block_teams teams, float* in, float* to, uint64_t rounds, outcome* out) {
  block_vectors mine(each, in, to);
  const operands o = operands_of(mine, teams);
  for (uint64_t i = 0; i < rounds; ++i) {
    mine.give(i);
    nvshmemx_barrier_block(o.team);  // all destinations are overwritten
    uint64_t wrong = collective::call(o) != 0;
    __syncthreads();
    wrong += mine.wrong(i);
    add_wrong(wrong, out + blockIdx.x);
    __syncthreads();
  }
}

template <class collective, int most_threads>
void measure(processing_element& pe, size_t elements, const shape& s) {
  if (s.blocks > pe.teams.size()) return;
  const uint64_t rounds = elements > 4096 ? 50 : 200;
  auto *const from = reinterpret_cast<float*>(pe.source), *const to = reinterpret_cast<float*>(pe.target);
  block_teams teams{};
  std::copy_n(pe.teams.begin(), s.blocks, teams.of);
  const auto seen = [&](uint64_t run) {
    return vectors{collective::what, pe.me(), pe.count(), elements / s.blocks, run};
  };
  const figure f{name_of(collective::what),
                 "nvshmem",
                 "time",
                 "ns",
                 {{"elements", static_cast<int64_t>(elements)},
                  {"blocks", s.blocks},
                  {"threads", s.threads},
                  {"method", 0, s.blocks > 1 ? "grid" : "block"}},
                 {}};
  check_rounds(pe, f, pe.count(), {[&](uint64_t run) {
                 checked_rounds<collective, most_threads>
                     <<<s.blocks, s.threads, 0, pe.stream>>>(seen(run), teams, from, to, rounds, pe.found);
               }});
  measure_rounds(
      pe, f, pe.count(), static_cast<double>(rounds),
      {[&](uint64_t run) {
         collective_rounds<collective, most_threads>
             <<<s.blocks, s.threads, 0, pe.stream>>>(seen(run), teams, from, to, rounds, pe.found);
       },
       [&](uint64_t run) { give_blocks<<<s.blocks, 512, 0, pe.stream>>>(seen(run), from, to); },
       [&](uint64_t run) { check_blocks_of<<<s.blocks, 512, 0, pe.stream>>>(seen(run), from, to, pe.found); }});
}

// Blocks of 1024 threads leave each 64 registers: their kernels are others.
template <class collective>
void measure_shape(processing_element& pe, size_t elements, const shape& s) {
  if (s.threads > 512) {
    measure<collective, 1024>(pe, elements, s);
  } else {
    measure<collective, 512>(pe, elements, s);
  }
}
void measure_all(processing_element& pe, size_t elements, const shape& s) {
  measure_shape<allreduce>(pe, elements, s);
  measure_shape<broadcast>(pe, elements, s);
  measure_shape<allgather>(pe, elements, s);
  measure_shape<alltoall>(pe, elements, s);
  measure_shape<reducescatter>(pe, elements, s);
  if (s.blocks > 1) return;
  measure_shape<gather>(pe, elements, s);
  measure_shape<scatter>(pe, elements, s);
}

}  // namespace

// More threads copy faster and meet more slowly. Few threads take longest for long vectors, and are never the best.
void measure_block_collectives(processing_element& pe) {
  for (const size_t elements : {1, 16, 64, 256, 1024, 4096, 16384, 65536}) {
    for (const unsigned threads : thread_counts)
      if (elements <= 4096 || threads >= 256) measure_all(pe, elements, {1, threads});
  }
}

void measure_grid_collectives(processing_element& pe) {
  for (const size_t elements : {1 << 10, 1 << 14, 1 << 16, 1 << 20})
    for (const shape& s : grids) measure_all(pe, elements, s);
}

}  // namespace ggas::compare
