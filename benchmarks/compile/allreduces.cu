// SPDX-License-Identifier: Apache-2.0
// Four kernels with an automatic allreduce each.
#include "ggas/ggas.cuh"

template <class T>
__device__ void sum(T* dst, const T* src, size_t n, ggas_status* result) {
  *result = ggas_allreduce_grid(dst, src, n, ggas_sum, ggas_auto, 1000000000);
}
__global__ void GGAS_LAUNCH_BOUNDS(256) floats(float* dst, const float* src, size_t n, ggas_status* result) {
  sum(dst, src, n, result);
}
__global__ void GGAS_LAUNCH_BOUNDS(256) doubles(double* dst, const double* src, size_t n, ggas_status* result) {
  sum(dst, src, n, result);
}
__global__ void GGAS_LAUNCH_BOUNDS(256) ints(int* dst, const int* src, size_t n, ggas_status* result) {
  sum(dst, src, n, result);
}
__global__ void GGAS_LAUNCH_BOUNDS(256) longs(long long* dst, const long long* src, size_t n, ggas_status* result) {
  sum(dst, src, n, result);
}
