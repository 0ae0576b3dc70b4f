// SPDX-License-Identifier: Apache-2.0
// Every collective and barrier, for test_guard.py.
#include "ggas/ggas.cuh"

template <class G>
__device__ ggas_status all_calls(const G& group, float* dst, const float* src, size_t n) {
  constexpr uint64_t t = 1'000'000;
  ggas_status s = ggas_allgather(group, dst, src, n, t);
  if (s == ggas_ok) s = ggas_alltoall(group, dst, src, n, t);
  if (s == ggas_ok) s = ggas_broadcast(group, dst, src, n, 0, t);
  if (s == ggas_ok) s = ggas_gather(group, dst, src, n, 0, t);
  if (s == ggas_ok) s = ggas_scatter(group, dst, src, n, 0, t);
  if (s == ggas_ok) s = ggas_reduce(group, dst, src, n, ggas_sum, 0, ggas_auto, t);
  if (s == ggas_ok) s = ggas_allreduce(group, dst, src, n, ggas_sum, ggas_auto, t);
  if (s == ggas_ok) s = ggas_reducescatter(group, dst, src, n, ggas_sum, t);
  if (s == ggas_ok) s = ggas_barrier(group, t);
  if (s == ggas_ok) s = ggas_sync(group, t);
  return s;
}

__global__ void by_block(float* dst, const float* src, size_t n, ggas_status* status) {
  ggas_status s = all_calls(ggas::block{}, dst, src, n);
  if (s == ggas_ok) s = ggas_barrier_block(1'000'000, ggas_world(), 3);
  *status = s;
}
__global__ void by_grid(float* dst, const float* src, size_t n, ggas_status* status) {
  *status = all_calls(ggas::grid{}, dst, src, n);
}
