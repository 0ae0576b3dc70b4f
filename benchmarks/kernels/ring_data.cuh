// SPDX-License-Identifier: Apache-2.0
// Floats that go round a ring of GPUs, other ones in every round, whichever library carries them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ggas::bench {

constexpr uint32_t ring_floats = 1003;  // neither whole words of 16 bytes nor whole warps

#ifdef __CUDACC__
__device__ inline float ring_value(uint64_t round, uint32_t i) {
  return static_cast<float>((round * 31 + uint64_t{i} * 7) % 8191);
}
// By a block.
__device__ inline void give_ring(float* data, uint64_t round) {
  for (uint32_t i = threadIdx.x; i < ring_floats; i += blockDim.x) data[i] = ring_value(round, i);
}
// How many of this thread's are wrong.
__device__ inline uint64_t wrong_in_ring(const float* data, uint64_t round) {
  uint64_t wrong = 0;
  for (uint32_t i = threadIdx.x; i < ring_floats; i += blockDim.x) wrong += __ldcg(data + i) != ring_value(round, i);
  return wrong;
}
#endif

}  // namespace ggas::bench
