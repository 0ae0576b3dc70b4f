// SPDX-License-Identifier: Apache-2.0
// A first GGAS kernel: every GPU sends its right neighbour a hello, waits for the one from its left neighbour, and
// then all add up what they received. Guide: docs/how-to/first-kernel.md.
#include "first_kernel.hpp"

#include "ggas/launch.hpp"

// One block on every GPU. `status` and `sum` are results in local memory.
static __global__ void greet_neighbour(uint64_t base, ggas_status* status, float* sum) {
  const int me = ggas_node(), nodes = ggas_nodes();
  const int right = (me + 1) % nodes;

  // The same place in every member's segment: `hello` is the neighbour's, `here` is ours.
  float* greeting = ggas_pointer_of_node<float>(right, base);
  uint64_t* flag = ggas_pointer_of_node<uint64_t>(right, base + flag_offset);
  const float* here = ggas_pointer_of_node<float>(me, base);
  const uint64_t* arrived = ggas_pointer_of_node<uint64_t>(me, base + flag_offset);

  // Every thread stores one value. Neighbouring threads store to neighbouring addresses: the GPU merges them into few
  // packets.
  ggas_store(greeting + threadIdx.x, static_cast<float>(me + 1));

  // The flag follows the data: a block barrier, a fence, and then one thread raises it.
  __syncthreads();
  if (threadIdx.x == 0) {
    ggas_fence();
    ggas_store(flag, uint64_t{1});
  }

  // Every wait has a time-out and says how it went.
  ggas_status s = ggas_wait_until_block(arrived, ggas_eq, uint64_t{1}, one_second);
  if (s == ggas_ok) s = ggas_allreduce_block(sum, here, greeting_values, ggas_sum, ggas_by_all_gather, one_second);
  if (threadIdx.x == 0) *status = s;
}
GGAS_DEFINE_KERNEL(greet, greet_neighbour);
