// SPDX-License-Identifier: Apache-2.0
// Jacobi's method in one persistent kernel with NVSHMEM, in the ways of benchmarks/cuda/jacobi.cu. The blocks of a GPU
// meet by cooperative groups.
#include <cooperative_groups.h>

#include "benchmarks/compare/nvshmem/nvshmem.cuh"
#include "benchmarks/plans/jacobi_reference.hpp"

namespace ggas::compare {

namespace {

using namespace ggas::bench;

constexpr uint32_t n = 1024;

struct jacobi_call {
  jacobi_slice slice;
  uint32_t rows_above, steps;
  float* copies[2];
  uint64_t* arrived;  // from above, from below: steps whose halo is here
  int me, count;
  outcome* out;

  __device__ float* row(uint32_t step, uint32_t r) const { return copies[step % 2] + uint64_t{r} * slice.n; }
};

__global__ void fill(jacobi_call c) {
  jacobi_fill_slice(c.slice, c.copies[0], c.copies[1]);
  if (blockIdx.x == 0 && threadIdx.x < 2) c.arrived[threadIdx.x] = 0;
}

struct edge {
  bool here;
  int peer;
  uint32_t row, halo;
  uint64_t *arrived, *signal;
};

template <bool by_signals>
__device__ void before(const edge& e, uint32_t step) {
  if constexpr (by_signals) {
    if (threadIdx.x == 0) nvshmem_signal_wait_until(e.arrived, NVSHMEM_CMP_GE, step - 1);
    __syncthreads();
  }
}
template <bool by_signals>
__device__ void behind(const jacobi_call& c, const edge& e, uint32_t step) {
  const size_t bytes = c.slice.n * sizeof(float);
  if constexpr (by_signals)
    nvshmemx_putmem_signal_nbi_block(c.row(step, e.halo), c.row(step, e.row), bytes, e.signal, step, NVSHMEM_SIGNAL_SET,
                                     e.peer);
  else
    nvshmemx_putmem_nbi_block(c.row(step, e.halo), c.row(step, e.row), bytes, e.peer);
}
template <bool by_signals>
__device__ void meet() {
  cooperative_groups::this_grid().sync();
  if constexpr (!by_signals) {
    if (blockIdx.x == 0) nvshmemx_barrier_all_block();
    cooperative_groups::this_grid().sync();
  }
}

template <bool by_signals>
__global__ void __launch_bounds__(1024) persistent(jacobi_call c) {
  const jacobi_strip strip(c.slice);
  const edge edges[] = {
      {strip.top() && c.me > 0, c.me - 1, 1, c.rows_above + 1, c.arrived, c.arrived + 1},
      {strip.bottom(c.slice) && c.me + 1 < c.count, c.me + 1, c.slice.rows, 0, c.arrived + 1, c.arrived}};
  if (blockIdx.x == 0) nvshmemx_barrier_all_block();
  cooperative_groups::this_grid().sync();
  const uint64_t begin = time_ns();
  for (uint32_t step = 1; step <= c.steps; ++step) {
    for (const edge& e : edges)
      if (e.here) before<by_signals>(e, step);
    jacobi_step(c.slice, strip, c.row(step - 1, 0), c.row(step, 0));
    __syncthreads();
    for (const edge& e : edges)
      if (e.here) behind<by_signals>(c, e, step);
    meet<by_signals>();
  }
  if (threadIdx.x == 0 && blockIdx.x < most_blocks) c.out[blockIdx.x] = {time_ns() - begin, 0};
}

// Both copies lie in `source`, the words in `flags`, far after those of the ping-pongs.
jacobi_call call_of(processing_element& pe, uint32_t steps) {
  jacobi_call c{};
  c.slice = jacobi_slice_of(n, pe.me(), pe.count());
  c.rows_above = pe.me() > 0 ? jacobi_slice_of(n, pe.me() - 1, pe.count()).rows : 0;
  c.steps = steps;
  c.copies[0] = reinterpret_cast<float*>(pe.source);
  c.copies[1] = c.copies[0] + jacobi_slice_of(n, 0, pe.count()).floats();
  c.arrived = pe.flags + pe.flag_bytes / sizeof(uint64_t) - 2;
  c.me = pe.me();
  c.count = pe.count();
  c.out = pe.found;
  return c;
}

void launch(processing_element& pe, const void* kernel, jacobi_call c, shape s) {
  void* arguments[] = {&c};
  if (nvshmemx_collective_launch(kernel, dim3(s.blocks), dim3(s.threads), arguments, 0, pe.stream) != 0) {
    std::fprintf(stderr, "nvshmemx_collective_launch failed\n");
    std::exit(1);
  }
}

// Compares with the result of one processor.
void check(processing_element& pe, const void* kernel, uint32_t steps) {
  const jacobi_call c = call_of(pe, steps);
  fill<<<256, 256, 0, pe.stream>>>(c);
  COMPARE_CUDA(cudaStreamSynchronize(pe.stream));
  pe.all.meet();
  launch(pe, kernel, c, {64, 256});
  COMPARE_CUDA(cudaStreamSynchronize(pe.stream));
  const std::vector<float> want = jacobi_reference(n, steps);
  std::vector<float> got(uint64_t{c.slice.rows} * n);
  COMPARE_CUDA(cudaMemcpy(got.data(), c.copies[steps % 2] + n, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  if (!std::equal(got.begin(), got.end(), want.begin() + ptrdiff_t(c.slice.first) * n)) {
    std::fprintf(stderr, "jacobi: GPU %d differs from one processor\n", pe.me());
    std::exit(1);
  }
}

void measure(processing_element& pe, const char* method, const void* kernel) {
  constexpr uint32_t steps = 1000;
  check(pe, kernel, 21);
  for (const shape s : {shape{64, 256}, {64, 512}, {64, 1024}, {128, 256}, {128, 512}, {128, 1024}}) {
    measure_rounds(pe,
                   {"jacobi",
                    "nvshmem",
                    "time",
                    "ns",
                    {{"grid", 0, "1024x1024"}, {"blocks", s.blocks}, {"threads", s.threads}, {"method", 0, method}},
                    {}},
                   pe.count(), steps,
                   {[&](uint64_t) { launch(pe, kernel, call_of(pe, steps), s); },
                    [&](uint64_t) { fill<<<256, 256, 0, pe.stream>>>(call_of(pe, steps)); }});
  }
}

}  // namespace

void measure_jacobi(processing_element& pe) {
  measure(pe, "barrier", reinterpret_cast<const void*>(persistent<false>));
  measure(pe, "signals", reinterpret_cast<const void*>(persistent<true>));
}

}  // namespace ggas::compare
