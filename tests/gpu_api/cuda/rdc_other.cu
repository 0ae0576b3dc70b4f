// SPDX-License-Identifier: Apache-2.0
#include "rdc.hpp"

namespace {
// This kernel is in this file only.
__global__ void GGAS_LAUNCH_BOUNDS(512) broadcast_and_sum(uint64_t dst, uint64_t src, size_t n, uint64_t* status) {
  float* const to = ggas_pointer_of_node<float>(ggas_node(), dst);
  float* const from = ggas_pointer_of_node<float>(ggas_node(), src);
  ggas_status s = ggas_put_block(ggas_pointer_of_node<float>(ggas_node(), dst), from, n, 5'000'000'000);
  if (s == ggas_ok) s = ggas_barrier_grid(5'000'000'000);
  if (s == ggas_ok) s = ggas_reduce_grid(to, from, n, ggas_sum, 0, ggas_auto, 5'000'000'000);
  if (s == ggas_ok) s = ggas_barrier_grid(5'000'000'000);
  if (s == ggas_ok) s = ggas_broadcast_grid(to, to, n, 0, 5'000'000'000);
  if (s != ggas_ok && threadIdx.x == 0) *status = s;
}
}  // namespace

ggas::result<> prepare_in_other_file(ggas::cluster& c, int node) { return ggas::prepare(c, node); }

ggas::result<> sum_in_other_file(ggas::cluster& c, int node, uint64_t dst, uint64_t src, size_t n, uint64_t* status) {
  if (auto ok = ggas::launch(c, node, 4, 512, sum_over_nodes<float>, dst, src, n, status); !ok) return ok;
  return ggas::launch(c, node, 1, 512, broadcast_and_sum, dst + n * sizeof(float), src, n, status);
}
