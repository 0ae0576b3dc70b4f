// SPDX-License-Identifier: Apache-2.0
// Compiled for the host engine and by nvcc.
#include "tests/userlib/one_host/kernels.hpp"

#include "ggas/launch.hpp"

namespace ggas::test {

template <class T>
static GGAS_DEVICE T* own(uint64_t offset) {
  return ggas_pointer_of_node<T>(ggas_node(), offset);
}

static __global__ void greet_all(uint64_t place, uint64_t found, uint64_t sum, uint64_t status, uint64_t timeout_ns) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes();
  if (threadIdx.x == 0) ggas_store(ggas_pointer_of_node<uint64_t>(right, place), uint64_t{100} + me);
  ggas_status s = ggas_barrier_block(timeout_ns);
  if (threadIdx.x == 0) ggas_store(own<uint64_t>(found), ggas_load(own<uint64_t>(place)));
  __syncthreads();
  if (s == ggas_ok)
    s = ggas_allreduce_block(own<uint64_t>(sum), own<uint64_t>(found), 1, ggas_sum, ggas_auto, timeout_ns);
  if (threadIdx.x == 0) ggas_store(own<uint64_t>(status), static_cast<uint64_t>(s));
}
GGAS_DEFINE_KERNEL(greet, greet_all);

static __global__ void wait_for_word(uint64_t word, uint64_t value, uint64_t status, uint64_t timeout_ns) {
  if (threadIdx.x != 0) return;
  const ggas_status s = ggas_wait_until(own<uint64_t>(word), ggas_eq, value, timeout_ns);
  ggas_store(own<uint64_t>(status), static_cast<uint64_t>(s));
}
GGAS_DEFINE_KERNEL(wait_for, wait_for_word);

static __global__ void put_down_word(uint64_t word, uint64_t value) {
  if (threadIdx.x == 0) ggas_store(own<uint64_t>(word), value);
}
GGAS_DEFINE_KERNEL(put_down, put_down_word);

static __global__ void follow_others(in_order what) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 2; ++i)
    if (what.nodes[i] >= 0 && ggas_load(ggas_pointer_of_node<uint64_t>(what.nodes[i], what.marks[i])) != 1)
      ggas_store(own<uint64_t>(what.wrong), ggas_load(own<uint64_t>(what.wrong)) + 1);
  __nanosleep(2000);
  ggas_store(own<uint64_t>(what.own), uint64_t{1});
}
GGAS_DEFINE_KERNEL(follow, follow_others);

static __global__ void double_numbers(uint64_t* numbers, uint64_t n) {
  for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) ggas_store(numbers + i, 2 * ggas_load(numbers + i));
}
GGAS_DEFINE_KERNEL(double_all, double_numbers);

static __global__ void reverse_numbers(uint64_t numbers, uint64_t n) {
  GGAS_DYNAMIC_SHARED(uint64_t, seen);
  for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) seen[i] = ggas_load(own<uint64_t>(numbers) + i);
  __syncthreads();
  for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) ggas_store(own<uint64_t>(numbers) + i, seen[n - 1 - i]);
}
GGAS_DEFINE_KERNEL(reverse, reverse_numbers);

static __global__ void meet_all(uint64_t status, uint64_t timeout_ns) {
  const ggas_status s = ggas_barrier_grid(timeout_ns);
  if (blockIdx.x == 0 && threadIdx.x == 0) ggas_store(own<uint64_t>(status), static_cast<uint64_t>(s));
}
GGAS_DEFINE_KERNEL(meet, meet_all);

// 1: the vector is wrong.
static GGAS_DEVICE uint64_t sum_in_team(const ggas_team& t, float* v, size_t n, uint64_t timeout_ns) {
  const size_t first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  for (size_t i = first; i < n; i += step) ggas_store(v + i, static_cast<float>(ggas_node() + 1));
  ggas_status s = ggas_barrier_grid(timeout_ns, t);
  if (s == ggas_ok) s = ggas_allreduce_grid(v, v, n, ggas_sum, ggas_auto, timeout_ns, t);
  if (s == ggas_ok) s = ggas_barrier_grid(timeout_ns, t);
  float sum = 0;
  for (int i = 0; i < t.size; ++i) sum += static_cast<float>(ggas_team_node(t, i) + 1);
  bool right = true;
  for (size_t i = first; i < n; i += step) right = right && ggas_load(v + i) == sum;
  if (s == ggas_ok) s = ggas_sync_grid(timeout_ns, t);
  return __syncthreads_or(!right) ? 1 : static_cast<uint64_t>(s);
}
static __global__ void use_team_often(ggas_team team, uint64_t rounds, uint64_t vector, uint64_t status,
                                      uint64_t timeout_ns) {
  uint64_t s = ggas_ok;
  for (uint64_t i = 0; i < rounds && s == ggas_ok; ++i)
    s = sum_in_team(team, own<float>(vector), i % 2 ? 3000 : 1, timeout_ns);
  if (s != ggas_ok && threadIdx.x == 0) ggas_store(own<uint64_t>(status), s);
}
GGAS_DEFINE_KERNEL(use_team, use_team_often);

static __global__ void note_start_of_block(uint64_t times, unsigned sleep_ns) {
  if (threadIdx.x != 0) return;
  ggas_store(own<uint64_t>(times) + blockIdx.x, detail::clock_ns());
  __nanosleep(sleep_ns);
}
GGAS_DEFINE_KERNEL(note_start, note_start_of_block);

}  // namespace ggas::test
