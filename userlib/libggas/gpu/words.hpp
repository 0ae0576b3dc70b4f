// SPDX-License-Identifier: Apache-2.0
// Atomics of the host on memory of a GPU: kernels of one thread (words.cu). Each returns when the kernel is queued.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ggas::library::gpu {

cudaError_t queue_fetch_add(uint64_t* word, uint64_t add, uint64_t* old, cudaStream_t on);
cudaError_t queue_compare_swap(uint64_t* word, uint64_t expected, uint64_t desired, uint64_t* old, cudaStream_t on);

}  // namespace ggas::library::gpu
