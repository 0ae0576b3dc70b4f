// SPDX-License-Identifier: Apache-2.0
// Compiled for the host engine and by nvcc.
#include "benchmarks/work/kernels.hpp"

#include "ggas/workers.hpp"

namespace ggas::bench {

static GGAS_DEVICE ggas_status do_nothing(const work_block&, uint64_t*) { return ggas_ok; }
GGAS_DEFINE_WORK(nothing, do_nothing);

static __global__ void stay_for(uint64_t ns) {
  const uint64_t begin = detail::clock_ns();
  while (detail::clock_ns() - begin < ns) __nanosleep(1000);
}
GGAS_DEFINE_KERNEL(stay, stay_for);

static GGAS_DEVICE ggas_status increment_all(const work_block& b, uint32_t* x, uint64_t n) {
  for (uint64_t i = b.x * blockDim.x + threadIdx.x; i < n; i += uint64_t{b.nx} * blockDim.x) x[i] += 1;
  return ggas_ok;
}
GGAS_DEFINE_WORK(increment, increment_all);

static GGAS_DEVICE ggas_status busy_for(const work_block&, uint64_t ns) {
  const uint64_t begin = detail::clock_ns();
  while (detail::clock_ns() - begin < ns) __nanosleep(100);
  return ggas_ok;
}
GGAS_DEFINE_WORK(busy, busy_for);

static __global__ void answer_own_word(const uint64_t* orders, uint64_t* answers) {
  if (threadIdx.x != 0) return;
  for (uint64_t last = 0, seen = 0;; last = seen) {
    while ((seen = detail::load_poll(orders + blockIdx.x)) == last) {
    }
    if (seen == ~uint64_t{0}) return;
    detail::store_release(answers + blockIdx.x, seen);
  }
}
GGAS_DEFINE_KERNEL(answer_words, answer_own_word);

GGAS_DEFINE_WORKERS(bench_work, nothing_work, increment_work, busy_work);

}  // namespace ggas::bench
