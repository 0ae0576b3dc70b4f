// SPDX-License-Identifier: Apache-2.0
// A CUDA source in the style of the Hybrid API: it knows hapi.h and nothing else. nvcc compiles it as it stands; the
// host engine, which has no <<<>>>, launches by hapiLaunch().
#include "hapi.h"

#include "tests/userlib/work/hapi.hpp"

namespace ggas::test {

static __global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] += a * x[i];
}

#ifdef __CUDACC__
void invoke_saxpy_on_cuda(float a, const float* x, float* y, int n, hapiStream_t stream) {
  const unsigned threads = 64, blocks = (static_cast<unsigned>(n) + threads - 1) / threads;
  saxpy<<<dim3(blocks), dim3(threads), 0, stream>>>(a, x, y, n);
  hapiCheck(hapiPeekAtLastError());
}
#else
void invoke_saxpy_on_engine(float a, const float* x, float* y, int n, hapiStream_t stream) {
  const unsigned threads = 64, blocks = (static_cast<unsigned>(n) + threads - 1) / threads;
  hapiCheck(hapiLaunch(blocks, threads, stream, saxpy, a, x, y, n));
}
#endif

}  // namespace ggas::test
