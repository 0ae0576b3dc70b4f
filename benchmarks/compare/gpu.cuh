// SPDX-License-Identifier: Apache-2.0
// What the CUDA programs of this folder share: errors end the process, kernels tell elapsed time and whether they gave
// up.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define COMPARE_CUDA(call) ::ggas::compare::require(call, #call)

namespace ggas::compare {

inline void require(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

// NVLink multicast is off in every program here.
inline void set_environment() {
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  setenv("NVSHMEM_DISABLE_NVLS", "1", 1);
}

// What a kernel found: written by one thread.
struct outcome {
  uint64_t ns;      // of all rounds
  uint64_t failed;  // not 0: a wait was given up, or a value was wrong
};

__device__ inline uint64_t time_ns() {
  uint64_t t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

// A polling loop gives up after so many loads: seconds, without reading a clock in the loop that is measured.
inline constexpr uint64_t most_polls = uint64_t{1} << 23;

}  // namespace ggas::compare
