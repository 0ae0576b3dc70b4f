// SPDX-License-Identifier: Apache-2.0
// Floats that go round all GPUs by puts with signal of NVSHMEM, in one persistent kernel: benchmarks/cuda/ring.cu.
#include "benchmarks/compare/checked.cuh"
#include "benchmarks/compare/nvshmem/nvshmem.cuh"
#include "benchmarks/kernels/ring_data.cuh"

namespace ggas::compare {

namespace {

using namespace ggas::bench;

struct ring_call {
  float* data;
  uint64_t* signal;
  int me, count;
  uint64_t rounds;  // that are timed, after one that is not
};

__global__ void clear(ring_call c) { *c.signal = 0; }

template <bool checked>
__global__ void __launch_bounds__(1024) persistent(ring_call c, outcome* out) {
  const int next = (c.me + 1) % c.count;
  const auto send = [&](uint64_t round) {
    nvshmemx_float_put_signal_nbi_block(c.data, c.data, ring_floats, c.signal, round, NVSHMEM_SIGNAL_SET, next);
  };
  uint64_t begin = 0;
  nvshmemx_barrier_all_block();
  for (uint64_t round = 1; round <= c.rounds + 1; ++round) {
    if (round == 2) begin = time_ns();
    if (checked && c.me == 0) {
      give_ring(c.data, round);
      __syncthreads();
    }
    if (c.me == 0) send(round);
    if (threadIdx.x == 0) nvshmem_signal_wait_until(c.signal, NVSHMEM_CMP_GE, round);
    __syncthreads();
    if constexpr (checked) {
      add_wrong(wrong_in_ring(c.data, round), out);
      __syncthreads();
    }
    if (c.me != 0) send(round);
  }
  if (!checked && threadIdx.x == 0) *out = {time_ns() - begin, 0};
}

}  // namespace

void measure_ring(processing_element& pe) {
  constexpr uint64_t rounds = 1000, checks = 100;
  const auto call = [&](uint64_t count) {
    return ring_call{reinterpret_cast<float*>(pe.source), pe.flags + pe.flag_bytes / sizeof(uint64_t) - 3, pe.me(),
                     pe.count(), count};
  };
  const auto prepare = [&](uint64_t) { clear<<<1, 1, 0, pe.stream>>>(call(0)); };
  for (const unsigned threads : {128u, 256u, 512u, 1024u}) {
    const figure f{
        "ring",
        "nvshmem",
        "time",
        "ns",
        {{"elements", ring_floats}, {"bytes", ring_floats * sizeof(float)}, {"blocks", 1}, {"threads", threads}},
        {}};
    check_rounds(pe, f, pe.count(),
                 {[&](uint64_t) { persistent<true><<<1, threads, 0, pe.stream>>>(call(checks), pe.found); }, prepare});
    measure_rounds(
        pe, f, pe.count(), rounds,
        {[&](uint64_t) { persistent<false><<<1, threads, 0, pe.stream>>>(call(rounds), pe.found); }, prepare});
  }
}

}  // namespace ggas::compare
