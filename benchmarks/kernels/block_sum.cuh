// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

// Sum of one value of every thread of a block of `Warps` full warps, in a fixed order. Thread 0 gets the result.
// Contains a block barrier.
template <unsigned Warps>
GGAS_DEVICE double block_sum(double v) {
  GGAS_SHARED_ARRAY(double, of_warp, Warps);
  for (unsigned step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  if (detail::lane_rank() == 0) of_warp[detail::thread_rank() / 32] = v;
  __syncthreads();
  if (detail::thread_rank() < 32) {
    v = detail::lane_rank() < Warps ? of_warp[detail::lane_rank()] : 0;
    for (unsigned step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  }
  __syncthreads();
  return v;
}

}  // namespace ggas::bench
