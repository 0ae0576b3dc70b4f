// SPDX-License-Identifier: Apache-2.0
// Energy of NVSHMEM's calls, in sequence in a running kernel: the loads of GGAS's benchmark `energy`.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/energy.hpp"
#include "benchmarks/compare/nvshmem/nvshmem.cuh"

namespace ggas::compare {

namespace {

constexpr size_t call_elements = 1 << 10, put_elements = size_t{16} << 20;

struct operands {
  float *to, *from;
  size_t elements;
  int next;  // where puts go
};

struct barrier {
  static __device__ int call(const operands&) { return nvshmemx_barrier_block(NVSHMEM_TEAM_WORLD); }
};
struct alltoall {
  static __device__ int call(const operands& o) {
    return nvshmemx_float_alltoall_block(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements);
  }
};
struct allreduce {
  static __device__ int call(const operands& o) {
    return nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, o.to, o.from, o.elements);
  }
};
// A part by each block.
struct put {
  static __device__ int call(const operands& o) {
    const size_t part = o.elements / gridDim.x, at = blockIdx.x * part;
    nvshmemx_float_put_nbi_block(o.to + at, o.from + at, part, o.next);
    return 0;
  }
};

template <class Call>
__global__ void __launch_bounds__(512) repeat(operands o, uint64_t calls, outcome* out) {
  int status = 0;
  for (uint64_t i = 0; i < calls; ++i) status |= Call::call(o);
  __syncthreads();
  if (threadIdx.x == 0) {
    nvshmem_quiet();
    out[blockIdx.x] = {0, static_cast<uint64_t>(status != 0)};
  }
}

void require_right(const processing_element& pe, const char* load) {
  COMPARE_CUDA(cudaGetLastError());
  COMPARE_CUDA(cudaStreamSynchronize(pe.stream));
  uint64_t failed = 0;
  for (unsigned b = 0; b < most_blocks; ++b) failed += pe.found[b].failed;
  if (failed == 0) return;
  std::fprintf(stderr, "energy, %s: GPU %d found %llu wrong\n", load, pe.me(), static_cast<unsigned long long>(failed));
  std::exit(1);
}

template <class Call>
energy_load load_of(processing_element& pe, energy_load load, const operands& o, const shape& s, uint64_t calls) {
  load.work_of_a_job *= static_cast<double>(calls);
  load.job = [&pe, name = load.name, o, s, calls] {
    repeat<Call><<<s.blocks, s.threads, 0, pe.stream>>>(o, calls, pe.found);
    require_right(pe, name);
  };
  return load;
}

// The job between data and a look at all of them.
void check(processing_element& pe, const energy_load& load, moved what, const operands& o) {
  const vectors v{what, pe.me(), pe.count(), o.elements, 1};
  std::fill_n(pe.found, most_blocks, outcome{0, 0});
  give_vectors<<<check_blocks, check_threads, 0, pe.stream>>>(v, o.from, o.to);
  require_right(pe, load.name);
  pe.all.meet();
  load.job();
  pe.all.meet();
  check_vectors<<<check_blocks, check_threads, 0, pe.stream>>>(v, o.to, pe.found);
  require_right(pe, load.name);
}

void check_puts(processing_element& pe, const energy_load& load, const operands& o) {
  auto *const from = reinterpret_cast<uint64_t*>(o.from), *const to = reinterpret_cast<uint64_t*>(o.to);
  const size_t words = o.elements / 2;
  give_words<<<check_blocks, check_threads, 0, pe.stream>>>(key_of(1, pe.me()), from, words);
  give_words<<<check_blocks, check_threads, 0, pe.stream>>>(0, to, words);
  require_right(pe, load.name);
  pe.all.meet();
  load.job();
  pe.all.meet();
  const int sender = (pe.me() + pe.count() - 1) % pe.count();
  check_words<<<check_blocks, check_threads, 0, pe.stream>>>(key_of(1, sender), to, words, pe.found);
  require_right(pe, load.name);
}

}  // namespace

void measure_energy(processing_element& pe) {
  constexpr bench::work_metric per_call{"energy_per_call", "J"}, per_byte{"energy_per_byte", "J"};
  operands o{reinterpret_cast<float*>(pe.target), reinterpret_cast<float*>(pe.source), call_elements,
             (pe.me() + 1) % pe.count()};
  const shape block{1, 256};
  const auto barriers = load_of<barrier>(pe, {"barrier", per_call, 0, 1, {}}, o, block, 20000);
  const auto alltoalls = load_of<alltoall>(pe, {"alltoall", per_call, call_elements, 1, {}}, o, block, 10000);
  const auto allreduces = load_of<allreduce>(pe, {"allreduce", per_call, call_elements, 1, {}}, o, block, 10000);
  check(pe, alltoalls, moved::alltoall, o);
  check(pe, allreduces, moved::allreduce, o);
  o.elements = put_elements;
  const double bytes = static_cast<double>(put_elements * sizeof(float)) * pe.count();
  const auto puts = load_of<put>(pe, {"put", per_byte, 0, bytes, {}}, o, {16, 512}, 200);
  check_puts(pe, puts, o);

  crew_energy energy(pe.all, pe.from, "nvshmem");
  energy.idle(barriers);
  for (const energy_load* load : {&puts, &barriers, &alltoalls, &allreduces})
    if (load != &puts || pe.count() > 1) energy.measure(*load);
}

}  // namespace ggas::compare
