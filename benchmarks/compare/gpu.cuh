// SPDX-License-Identifier: Apache-2.0
// Shared by the CUDA programs of this folder: errors end the process; kernels report the elapsed time and whether they
// timed out.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
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

// Blocks, and threads of each, that a kernel is tried with.
struct shape {
  unsigned blocks, threads;
};
inline constexpr unsigned thread_counts[] = {32, 64, 128, 256, 512, 1024};
inline constexpr shape grids[] = {{16, 128}, {16, 256},  {16, 512},  {64, 128}, {64, 256},
                                  {64, 512}, {128, 128}, {128, 256}, {128, 512}};
inline constexpr unsigned most_blocks = 128;
// RandomAccess: as many threads each time, so that all do the same updates.
inline constexpr shape update_grids[] = {{2112, 128}, {1056, 256}, {528, 512}, {264, 1024}};

// Small messages to memory of 1 GiB, as in GGAS's message_rate. Threads store words at this distance; warps or threads
// put messages of this size. Each sender sends up to 1000 messages, each to a different place.
inline constexpr int64_t value_bytes_apart = 128, put_bytes = 64;
struct message_plan {
  uint64_t senders, each;
  message_plan(uint64_t from, int64_t bytes)
      : senders(from), each(std::min<uint64_t>(1000, (uint64_t{1} << 30) / static_cast<uint64_t>(bytes) / from)) {}
  uint64_t messages() const { return senders * each; }
};

// What a block of a kernel found: written by one thread.
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
