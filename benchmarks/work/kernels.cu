// SPDX-License-Identifier: Apache-2.0
// Compiled for the host engine and by nvcc.
#include "benchmarks/work/kernels.hpp"

#include "ggas/launch.hpp"

namespace ggas::bench {

static __global__ void do_nothing(uint64_t*) {}
GGAS_DEFINE_KERNEL(nothing, do_nothing);

static __global__ void stay_for(uint64_t ns) {
  const uint64_t begin = detail::clock_ns();
  while (detail::clock_ns() - begin < ns) __nanosleep(1000);
}
GGAS_DEFINE_KERNEL(stay, stay_for);

static __global__ void increment_all(uint32_t* x, uint64_t n) {
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += uint64_t{gridDim.x} * blockDim.x) x[i] += 1;
}
GGAS_DEFINE_KERNEL(increment, increment_all);

}  // namespace ggas::bench
