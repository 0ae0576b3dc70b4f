// SPDX-License-Identifier: Apache-2.0
// Compiled for the host engine and by nvcc.
#include "tests/userlib/work/kernels.hpp"

#include "ggas/launch.hpp"

namespace ggas::test {

static __global__ void mix_all(uint32_t* rw, uint32_t* ro, uint32_t* wo, uint64_t n) {
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    rw[i] = 3 * rw[i] + ro[i];
    wo[i] = rw[i] ^ ro[i];
    ro[i] = 0;
  }
}
GGAS_DEFINE_KERNEL(mix, mix_all);

static __global__ void note_shape_of(uint32_t* found, uint64_t shared) {
  GGAS_DYNAMIC_SHARED(unsigned char, bytes);
  for (uint64_t i = threadIdx.x; i < shared; i += blockDim.x) bytes[i] = static_cast<unsigned char>(i);
  __syncthreads();
  if (blockIdx.x != 0 || threadIdx.x != 0 || threadIdx.y != 0) return;
  uint32_t right = 0;
  for (uint64_t i = 0; i < shared; ++i) right += bytes[i] == static_cast<unsigned char>(i);
  const uint32_t all[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z, right};
  for (int i = 0; i < 7; ++i) found[i] = all[i];
}
GGAS_DEFINE_KERNEL(note_shape, note_shape_of);

static __global__ void add_to_all(uint64_t* x, uint64_t n, uint64_t what) {
  for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) x[i] += what;
}
GGAS_DEFINE_KERNEL(add_to, add_to_all);

static __global__ void look_at(uint64_t* out, const uint64_t* x) {
  if (threadIdx.x == 0) out[0] = x[0];
}
GGAS_DEFINE_KERNEL(look, look_at);

static __global__ void wait_for_pinned(const uint64_t* word, uint64_t least) {
  for (int i = 0; i < 20'000'000 && ggas_load(word) < least; ++i) __nanosleep(1000);
}
GGAS_DEFINE_KERNEL(wait_word, wait_for_pinned);

static __global__ void random_step_by_block(const uint32_t* a, uint64_t na, uint32_t* b, uint64_t nb, uint32_t* c,
                                            uint64_t nc, uint64_t* sum, uint32_t k) {
  for (uint64_t i = threadIdx.x; i < nb; i += blockDim.x) b[i] = 5 * b[i] + (na ? a[i % na] : 0) + k;
  __syncthreads();
  for (uint64_t i = threadIdx.x; i < nc; i += blockDim.x) c[i] = static_cast<uint32_t>(k ^ i) + (nb ? b[i % nb] : 0);
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint64_t all = 0;
  for (uint64_t i = 0; i < nb; ++i) all += b[i];
  for (uint64_t i = 0; i < nc; ++i) all += c[i];
  *sum = all;
}
GGAS_DEFINE_KERNEL(random_step, random_step_by_block);

}  // namespace ggas::test
