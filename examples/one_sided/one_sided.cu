// SPDX-License-Identifier: Apache-2.0
// Put, signal and a remote atomic: in every step each GPU puts a vector to its right neighbour, computes on what came
// from the left one, and counts what it sent on node 0. The NIC moves the data; the kernel only posts and waits.
#include "one_sided.hpp"

#include "ggas/launch.hpp"

// One block on every GPU.
static __global__ void send_around(uint64_t base) {
  const int me = ggas_node(), right = (me + 1) % ggas_nodes();
  double* out = ggas_pointer_of_node<double>(me, base + out_at);
  const uint64_t* arrived = ggas_pointer_of_node<uint64_t>(me, base + arrived_at);
  double sum = 0;
  ggas_status s = ggas_ok;
  for (unsigned step = 1; step <= steps && s == ggas_ok; ++step) {
    const uint64_t buffer = in_at + step % 2 * values * sizeof(double);
    for (unsigned i = threadIdx.x; i < values; i += blockDim.x) ggas_store(out + i, static_cast<double>(me + step));

    // Data, then the signal after it, in the queue of this block. The call returns when the descriptors are posted.
    s = ggas_put_signal_nbi_block(ggas_pointer_of_node<double>(right, base + buffer), out, values,
                                  ggas_pointer_of_node<uint64_t>(right, base + arrived_at), 1, ggas_signal_add,
                                  one_second);
    if (s == ggas_ok) s = ggas_wait_until_block(arrived, ggas_ge, uint64_t{step}, one_second);
    const double* in = ggas_pointer_of_node<double>(me, base + buffer);
    if (threadIdx.x == 0) {
      for (unsigned i = 0; i < values; ++i) sum += ggas_load(in + i);
    }

    // Count on node 0; no one waits for the old value. The barrier covers puts and atomics: `out` may be filled again.
    if (threadIdx.x == 0 && s == ggas_ok)
      s = ggas_add(ggas_pointer_of_node<uint64_t>(0, base + counter_at), uint64_t{values}, one_second);
    const ggas_status b = ggas_barrier_block(one_second);
    if (s == ggas_ok) s = b;
  }
  if (threadIdx.x == 0) {
    ggas_store(ggas_pointer_of_node<double>(me, base + sum_at), sum);
    ggas_store(ggas_pointer_of_node<uint64_t>(me, base + status_at), static_cast<uint64_t>(s));
  }
}
GGAS_DEFINE_KERNEL(ring, send_around);
