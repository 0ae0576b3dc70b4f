// SPDX-License-Identifier: Apache-2.0
// The kernel that is launched to see what launching and synchronising cost: each block reads the clock.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

inline constexpr unsigned clock_blocks = 64, clock_threads = 128;

__global__ void read_clock(uint64_t times) {
  if (detail::thread_rank() == 0) own<uint64_t>(times)[detail::block_rank()] = time_ns();
}

}  // namespace ggas::bench
