// SPDX-License-Identifier: Apache-2.0
// The same steps, queued by the host: layers and signals go by calls on a stream, and only the sums are a kernel.
#include "halo.hpp"

#include "ggas/launch.hpp"
#include "ggas/typed_on_stream.cuh"

// Every row adds its ghosts to its cells at the edges.
static __global__ void add_ghosts(uint64_t grid_at) {
  double* const grid = ggas_pointer_of_node<double>(ggas_node(), grid_at);
  for (unsigned row = threadIdx.x; row < width * width; row += blockDim.x) {
    double* const x = grid + row * width;
    ggas_store(x + 1, ggas_load(x + 1) + ggas_load(x));
    ggas_store(x + inner, ggas_load(x + inner) + ggas_load(x + inner + 1));
  }
}

static ggas::result<> queue_step(ggas::cluster& c, int me, const halo_plan& plan) {
  const int nodes = c.nodes(), left = (me + nodes - 1) % nodes, right = (me + 1) % nodes;
  auto* const segment = reinterpret_cast<char*>(c.segment(me));
  auto* const words = reinterpret_cast<uint64_t*>(segment + plan.arrived);
  const ggas::stream_report report{one_second, reinterpret_cast<uint64_t*>(segment + plan.status)};
  const void* const grid = segment + plan.grid;
  // The last layer becomes the right neighbour's left ghosts, the first one the left neighbour's right ghosts.
  auto ok = ggas::put_signal_typed_on_stream(c, me, {right, plan.grid}, 1, plan.left_ghost, grid, 1, plan.last,
                                             {right, plan.arrived}, 1, ggas_signal_add, report);
  if (ok)
    ok = ggas::put_signal_typed_on_stream(c, me, {left, plan.grid}, 1, plan.right_ghost, grid, 1, plan.first,
                                          {left, plan.arrived + 8}, 1, ggas_signal_add, report);
  // How many signals were taken stands after the words that are signalled.
  if (ok) ok = ggas::signal_take_on_stream(c, me, words, words + 2, 1, report);
  if (ok) ok = ggas::signal_take_on_stream(c, me, words + 1, words + 3, 1, report);
  if (ok) ok = ggas::launch(c, me, 1, 64, add_ghosts, plan.grid);
  // No one sends the next step's layers before every member has used this one's.
  return ok ? ggas::barrier_on_stream(c, me, report) : ok;
}

ggas::result<> queue_halo(ggas::cluster& c, int node, const halo_plan& plan) {
  for (uint64_t step = 0; step < steps; ++step)
    if (auto ok = queue_step(c, node, plan); !ok) return ok;
  return {};
}
