// SPDX-License-Identifier: Apache-2.0
// The same for ranks, and for permute and scan of nodes: linked by themselves, so that what they call moves no figure
// of the others.
#include "ggas/ranks.cuh"
#include "tests/gpu_api/sass/calls.cuh"

namespace {
struct arguments {
  float* dst;
  const float* src;
  size_t n;
  ggas_status* result;
  ggas_ranks ranks;
  ggas::ranked<float> to, from;
};
}  // namespace

CALL(permute_block, GGAS_LAUNCH_BOUNDS(256), ggas_permute_block(a.dst, a.src, a.n, 1, limit))
CALL(scan_block, GGAS_LAUNCH_BOUNDS(256), ggas_scan_block(a.dst, a.src, a.n, ggas_sum, ggas_scan_inclusive, limit))
CALL(broadcast_buffers, GGAS_LAUNCH_BOUNDS(256), ggas_broadcast(a.ranks, a.dst, a.src, a.n, 0, limit))
CALL(barrier_ranks, , ggas_barrier(a.ranks, limit))
CALL(broadcast_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_broadcast(a.ranks, a.to, a.from, a.n, 0, limit))
CALL(scatter_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_scatter(a.ranks, a.to, a.from, a.n, 0, limit))
CALL(gather_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_gather(a.ranks, a.to, a.from, a.n, 0, limit))
CALL(allgather_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_allgather(a.ranks, a.to, a.from, a.n, limit))
CALL(alltoall_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_alltoall(a.ranks, a.to, a.from, a.n, limit))
CALL(permute_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_permute(a.ranks, a.to, a.from, a.n, 1, limit))
CALL(reducescatter_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_reducescatter(a.ranks, a.to, a.from, a.n, ggas_sum, limit))
CALL(scan_ranks, GGAS_LAUNCH_BOUNDS(256), ggas_scan(a.ranks, a.to, a.from, a.n, ggas_sum, ggas_scan_inclusive, limit))
