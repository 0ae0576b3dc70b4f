// SPDX-License-Identifier: Apache-2.0
// Every call of the device API for every element size, so that nvcc checks all of it. Compiled, never run.
#include "ggas/ggas.cuh"
#include "ggas/launch.hpp"

struct alignas(16) vec16 {
  float v[4];
};

template <class T>
__device__ void move_all(T* a, const T* b, size_t n) {
  ggas_store(a, ggas_load(b));
  ggas_store_warp(a, b, n);
  ggas_store_block(a, b, n);
  ggas_load_warp(a, b, n);
  ggas_load_block(a, b, n);
  const ggas::global_ptr<T> p(1, ggas_reserved_bytes());
  (p + 1).store(p.load());
}

template <class T>
__device__ int wait_all(const T* flag) {
  return ggas_wait_until(flag, ggas_eq, T(1), 1000) + ggas_wait_until_warp(flag, ggas_ge, T(2), 1000) +
         ggas_wait_until_block(flag, ggas_ne, T(3), GGAS_FOREVER);
}

template <class T>
__device__ int reduce_all(T* dst, const T* src, size_t n) {
  return ggas_reduce_block(dst, src, n, ggas_sum, 0, ggas_by_gather, 1000) +
         ggas_allreduce_block(dst, src, n, ggas_min, ggas_by_gather, 1000) +
         ggas_allreduce_block(dst, src, n, ggas_max, ggas_by_all_gather, 1000);
}

__global__ void everything(int* result, size_t n) {
  const int peer = (ggas_node() + 1) % ggas_nodes();
  char* to = ggas_pointer_of_node(peer, ggas_reserved_bytes());
  const char* from = ggas_global_pointer(ggas_node(), ggas_segment_bytes() / 2);
  move_all(to, from, n);
  move_all(reinterpret_cast<short*>(to), reinterpret_cast<const short*>(from), n);
  move_all(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), n);
  move_all(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), n);
  move_all(reinterpret_cast<vec16*>(to), reinterpret_cast<const vec16*>(from), n);
  int s = wait_all(reinterpret_cast<const uint8_t*>(from)) + wait_all(reinterpret_cast<const uint16_t*>(from)) +
          wait_all(reinterpret_cast<const uint32_t*>(from)) + wait_all(reinterpret_cast<const uint64_t*>(from)) +
          wait_all(reinterpret_cast<const float*>(from));
  s += reduce_all(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), n) +
       reduce_all(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), n) +
       reduce_all(reinterpret_cast<int*>(to), reinterpret_cast<const int*>(from), n);
  ggas_fence_gpu();
  ggas_fence();
  GGAS_COMPUTE(100, 200);
  GGAS_SHARED_ARRAY(int, votes, 32);
  votes[threadIdx.x % 32] = s + ggas_quiet() + ggas_quiet_block() + ggas_barrier_grid(1000) + ggas_barrier_block(1000);
  __syncthreads();
  *result = votes[0] + ggas_status_text(ggas_ok)[0];
}

ggas::result<> start(ggas::cluster& c, int* result) {
  if (cudaError_t e = ggas::set_device_context(ggas::context{}, nullptr); e != cudaSuccess)
    return ggas::error{ggas::errc::device_fault, cudaGetErrorString(e)};
  return ggas::launch(c, 0, 1, dim3(32, 2), everything, result, 5);
}
