// SPDX-License-Identifier: Apache-2.0
// Nodes in a ring along x, each with a box of cells: in every step a node sends its first and last layer of cells to
// the ghosts of its neighbours, waits for theirs, and counts what it sees up. The layers are described once, by
// datatypes: no buffer, no packing.
#include "halo.hpp"

#include "ggas/launch.hpp"
#include "ggas/type.cuh"

// One block on every GPU.
static __global__ void exchange_halos(halo_plan plan) {
  const int me = ggas_node(), nodes = ggas_nodes(), left = (me + nodes - 1) % nodes, right = (me + 1) % nodes;
  double* const grid = ggas_pointer_of_node<double>(me, plan.grid);
  const uint64_t* const arrived = ggas_pointer_of_node<uint64_t>(me, plan.arrived);
  ggas_status s = ggas_ok;
  for (uint64_t step = 1; step <= steps && s == ggas_ok; ++step) {
    // The last layer becomes the right neighbour's left ghosts, the first one the left neighbour's right ghosts.
    s = ggas_put_signal_typed_block(ggas_pointer_of_node(right, plan.grid), 1, plan.left_ghost, grid, 1, plan.last,
                                    ggas_pointer_of_node<uint64_t>(right, plan.arrived), 1, ggas_signal_add,
                                    one_second);
    if (s == ggas_ok)
      s = ggas_put_signal_typed_block(ggas_pointer_of_node(left, plan.grid), 1, plan.right_ghost, grid, 1, plan.first,
                                      ggas_pointer_of_node<uint64_t>(left, plan.arrived + 8), 1, ggas_signal_add,
                                      one_second);
    if (s == ggas_ok) s = ggas_wait_until_block(arrived, ggas_ge, step, one_second);
    if (s == ggas_ok) s = ggas_wait_until_block(arrived + 1, ggas_ge, step, one_second);

    // Every row adds its ghosts to its cells at the edges.
    for (unsigned row = threadIdx.x; row < width * width; row += blockDim.x) {
      double* const x = grid + row * width;
      ggas_store(x + 1, ggas_load(x + 1) + ggas_load(x));
      ggas_store(x + inner, ggas_load(x + inner) + ggas_load(x + inner + 1));
    }
    // No one sends the next step's layers before every member has used this one's.
    const ggas_status b = ggas_barrier_block(one_second);
    if (s == ggas_ok) s = b;
  }
  if (threadIdx.x == 0) ggas_store(ggas_pointer_of_node<uint64_t>(me, plan.status), static_cast<uint64_t>(s));
}
GGAS_DEFINE_KERNEL(halo, exchange_halos);
