// SPDX-License-Identifier: Apache-2.0
// Collectives called by one block of a running kernel, one behind the other, with NVSHMEM.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem.cuh"

namespace ggas::compare {

namespace {

struct operands {
  float *to, *from;
  size_t elements;
};

struct allreduce {
  static constexpr moved what = moved::allreduce;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements);
  }
};
struct broadcast {
  static constexpr moved what = moved::broadcast;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_broadcast_block(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements, 0);
  }
};
struct allgather {
  static constexpr moved what = moved::allgather;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_fcollect_block(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements);
  }
};
struct alltoall {
  static constexpr moved what = moved::alltoall;
  static __device__ int call(const operands& o) {
    return nvshmemx_float_alltoall_block(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements);
  }
};

template <class collective, int threads>
__global__ void __launch_bounds__(threads) collective_rounds(operands o, uint64_t rounds, outcome* out) {
  nvshmemx_barrier_all_block();  // all GPUs begin together
  const uint64_t begin = time_ns();
  int status = 0;
  for (uint64_t i = 0; i < rounds; ++i) status |= collective::call(o);
  if (threadIdx.x == 0) *out = {time_ns() - begin, static_cast<uint64_t>(status != 0)};
}

template <class collective, int threads>
void measure(processing_element& pe, size_t elements) {
  const uint64_t rounds = elements > 4096 ? 50 : 200;
  const operands o{reinterpret_cast<float*>(pe.target), reinterpret_cast<float*>(pe.source), elements};
  const auto seen = [&](uint64_t run) { return vectors{collective::what, pe.me(), pe.count(), elements, run}; };
  measure_rounds(pe,
                 {name_of(collective::what),
                  "nvshmem",
                  "time",
                  "ns",
                  {{"elements", static_cast<int64_t>(elements)}, {"threads", threads}, {"method", 0, "block"}},
                  {}},
                 pe.count(), static_cast<double>(rounds),
                 {[&](uint64_t) { collective_rounds<collective, threads><<<1, threads>>>(o, rounds, pe.found); },
                  [&](uint64_t run) { give_vectors<<<check_blocks, check_threads>>>(seen(run), o.from, o.to); },
                  [&](uint64_t run) { check_vectors<<<check_blocks, check_threads>>>(seen(run), o.to, pe.found); }});
}

template <int threads>
void measure_all(processing_element& pe, size_t elements) {
  measure<allreduce, threads>(pe, elements);
  measure<broadcast, threads>(pe, elements);
  measure<allgather, threads>(pe, elements);
  measure<alltoall, threads>(pe, elements);
}

}  // namespace

// More threads copy faster and meet more slowly.
void measure_collectives(processing_element& pe) {
  for (const size_t elements : {1, 16, 64, 256, 1024, 4096, 16384, 65536}) {
    measure_all<32>(pe, elements);
    measure_all<256>(pe, elements);
    measure_all<1024>(pe, elements);
  }
}

}  // namespace ggas::compare
