// SPDX-License-Identifier: Apache-2.0
// The two places a kernel runs in, made to look alike: a GPU (nvcc) and the host SIMT engine.
#pragma once

#include "ggas/detail/platform/context.hpp"
#include "ggas/detail/platform/layout.hpp"

#ifdef __CUDACC__
#include "ggas/detail/platform/platform_cuda.cuh"
#else
#include "ggas/detail/platform/platform_simt.hpp"
#endif

namespace ggas::detail {

// Threads of a block and lanes of a warp, counted whatever the shape of the block.
GGAS_DEVICE unsigned thread_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
GGAS_DEVICE bool is_first_thread() { return (threadIdx.x | threadIdx.y | threadIdx.z) == 0; }
GGAS_DEVICE unsigned thread_count() { return blockDim.x * blockDim.y * blockDim.z; }
// The last warp of a block may be short.
GGAS_DEVICE unsigned lane_count() {
  const unsigned all = thread_count(), last = all % 32;
  return last == 0 || thread_rank() < all - last ? 32 : last;
}
// All lanes of a warp; lanes that a short block does not have count as exited. A mask that the compiler does not know
// costs some 70 cycles.
GGAS_DEVICE constexpr unsigned lane_mask() { return 0xffffffffu; }
GGAS_DEVICE void sync_lanes() { __syncwarp(lane_mask()); }
GGAS_DEVICE unsigned block_rank() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
GGAS_DEVICE unsigned block_count() { return gridDim.x * gridDim.y * gridDim.z; }

// A place that the block has to itself as long as this lives; none where calls are not guarded by the platform.
class taken_place {
 public:
  GGAS_DEVICE taken_place(const void* p, size_t bytes) : place_(p), taken_(take_place(p, bytes)) {}
  GGAS_DEVICE ~taken_place() {
    if (taken_) give_place(place_);
  }
  taken_place(const taken_place&) = delete;
  taken_place& operator=(const taken_place&) = delete;
  GGAS_DEVICE bool refused() const { return !taken_; }

 private:
  const void* place_;
  bool taken_;
};

}  // namespace ggas::detail
