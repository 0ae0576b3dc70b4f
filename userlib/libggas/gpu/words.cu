// SPDX-License-Identifier: Apache-2.0
#include "userlib/libggas/gpu/words.hpp"

namespace ggas::library::gpu {

namespace {

using word = unsigned long long;

__global__ void fetch_add(word* at, word add, word* old) { *old = atomicAdd_system(at, add); }
__global__ void compare_swap(word* at, word expected, word desired, word* old) {
  *old = atomicCAS_system(at, expected, desired);
}

word* as_word(uint64_t* p) { return reinterpret_cast<word*>(p); }

}  // namespace

cudaError_t queue_fetch_add(uint64_t* at, uint64_t add, uint64_t* old, cudaStream_t on) {
  fetch_add<<<1, 1, 0, on>>>(as_word(at), add, as_word(old));
  return cudaGetLastError();
}

cudaError_t queue_compare_swap(uint64_t* at, uint64_t expected, uint64_t desired, uint64_t* old, cudaStream_t on) {
  compare_swap<<<1, 1, 0, on>>>(as_word(at), expected, desired, as_word(old));
  return cudaGetLastError();
}

}  // namespace ggas::library::gpu
