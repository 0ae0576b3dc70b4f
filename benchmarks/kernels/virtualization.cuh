// SPDX-License-Identifier: Apache-2.0
// The two micro-kernels of the study of virtualization: dependent additions in registers or shared memory, two loads
// and two stores of a thread. And state that lasts over a barrier in shared memory, or is stored and loaded between two
// launches.
#pragma once

#include "benchmarks/kernels/common.cuh"
#include "ggas/ranks.cuh"

namespace ggas::bench {

constexpr unsigned micro_threads = 256, state_floats = 8;  // of a thread
struct micro_args {
  uint64_t x, y;      // offsets of a float of each thread
  uint64_t state;     // offset of state_floats of each thread
  uint64_t outcomes;  // of each thread
  uint64_t iterations, timeout_ns;
  ggas_ranks blocks;  // of the state's kernel
};

template <class F>
GGAS_DEVICE void micro_loop(uint64_t iterations, F add) {
  GGAS_NO_UNROLL
  for (uint64_t i = 0; i < iterations; ++i) {
    GGAS_UNROLL
    for (int k = 0; k < 10; ++k) add();
  }
  GGAS_COMPUTE(iterations * 20, 0);
}
GGAS_DEVICE void micro_end(const micro_args& a, uint64_t begin, ggas_status s) {
  own<outcome>(a.outcomes)[global_thread()] = {begin, time_ns(), 0, s};
}

[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) micro_registers(micro_args a) {
  const uint64_t begin = time_ns();
  float* const at = own<float>(a.x) + global_thread();
  float x = *at;
  float y = own<float>(a.y)[global_thread()];
  micro_loop(a.iterations, [&] { x += y * 1.11f; });
  *at = x;
  own<float>(a.y)[global_thread()] = y;
  micro_end(a, begin, ggas_ok);
}
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) micro_shared(micro_args a) {
  const uint64_t begin = time_ns();
  GGAS_SHARED_ARRAY(float, xs, micro_threads);
  GGAS_SHARED_ARRAY(float, ys, micro_threads);
  volatile float *const x = xs + detail::thread_rank(), *const y = ys + detail::thread_rank();
  *x = own<float>(a.x)[global_thread()];
  *y = own<float>(a.y)[global_thread()];
  micro_loop(a.iterations, [&] { *x = *x + *y * 1.11f; });
  own<float>(a.x)[global_thread()] = *x;
  own<float>(a.y)[global_thread()] = *y;
  micro_end(a, begin, ggas_ok);
}

// ---- state

GGAS_DEVICE float* state_of(const micro_args& a, unsigned i) {
  return own<float>(a.state) + i * global_threads() + global_thread();
}
GGAS_DEVICE void state_work(float* state, uint64_t iterations) {
  micro_loop(iterations, [&] {
    GGAS_UNROLL
    for (unsigned i = 0; i < state_floats; ++i) state[i * micro_threads] += 1.0f;
  });
}
// Both halves of the work; all blocks meet in between.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) state_kept(micro_args a) {
  const uint64_t begin = time_ns();
  GGAS_SHARED_ARRAY(float, all, micro_threads* state_floats);
  float* const state = all + detail::thread_rank();
  for (unsigned i = 0; i < state_floats; ++i) state[i * micro_threads] = *state_of(a, i);
  state_work(state, a.iterations);
  const ggas_status s = ggas_barrier(a.blocks, a.timeout_ns);
  state_work(state, a.iterations);
  for (unsigned i = 0; i < state_floats; ++i) *state_of(a, i) = state[i * micro_threads];
  micro_end(a, begin, s);
}
// A half; launched twice.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) state_stored(micro_args a) {
  const uint64_t begin = time_ns();
  GGAS_SHARED_ARRAY(float, all, micro_threads* state_floats);
  float* const state = all + detail::thread_rank();
  for (unsigned i = 0; i < state_floats; ++i) state[i * micro_threads] = *state_of(a, i);
  state_work(state, a.iterations);
  for (unsigned i = 0; i < state_floats; ++i) *state_of(a, i) = state[i * micro_threads];
  micro_end(a, begin, ggas_ok);
}

}  // namespace ggas::bench
