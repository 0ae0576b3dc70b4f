// SPDX-License-Identifier: Apache-2.0
// allreduces.cu with NVSHMEM.
#include <nvshmem.h>
#include <nvshmemx.h>

#define GGAS_SUM(name, type, call)                                                                    \
  __global__ void __launch_bounds__(256, 1) name(type* dst, const type* src, size_t n, int* result) { \
    *result = call(NVSHMEM_TEAM_WORLD, dst, src, n);                                                  \
  }
GGAS_SUM(floats, float, nvshmemx_float_sum_reduce_block)
GGAS_SUM(doubles, double, nvshmemx_double_sum_reduce_block)
GGAS_SUM(ints, int, nvshmemx_int_sum_reduce_block)
GGAS_SUM(longs, long long, nvshmemx_longlong_sum_reduce_block)
