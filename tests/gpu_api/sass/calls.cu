// SPDX-License-Identifier: Apache-2.0
// A kernel for each call of the device API that stands in kernels' inner loops: what its machine code costs is compared
// with costs.txt by costs.py. No one runs it.
#include "tests/gpu_api/sass/calls.cuh"

namespace {
struct arguments {
  float* dst;
  const float* src;
  size_t n;
  uint64_t* word;
  ggas_tagged* lines;
  ggas_status* result;
};
}  // namespace

CALL(barrier_block, , ggas_barrier_block(limit))
CALL(barrier_block_index, , ggas_barrier_block(limit, ggas_world(), 3))
CALL(barrier_grid, , ggas_barrier_grid(limit))
CALL(sync_block, , ggas_sync_block(limit))
CALL(sync_grid, , ggas_sync_grid(limit))
CALL(wait_until, , ggas_wait_until(a.word, ggas_ge, uint64_t(i), limit))
CALL(wait_until_block, , ggas_wait_until_block(a.word, ggas_ge, uint64_t(i), limit))
CALL(wait_until_all, , ggas_wait_until_all(a.word, a.n, ggas_ge, uint64_t(i), limit))
CALL(signal_wait_until, , ggas_signal_wait_until(a.word, ggas_ge, uint64_t(i), nullptr, limit))
CALL(put_value, , ggas_put_value_nbi(a.word, uint64_t(i), limit))
CALL(put_block, GGAS_LAUNCH_BOUNDS(256), ggas_put_nbi_block(a.dst, a.src, a.n, limit))
CALL(put_signal_block, GGAS_LAUNCH_BOUNDS(256),
     ggas_put_signal_nbi_block(a.dst, a.src, a.n, a.word, 1, ggas_signal_add, limit))
CALL(put_tagged_block, , ggas_put_tagged_block(a.lines, a.src, a.n, uint32_t(i) + 1))
CALL(take_tagged_block, , ggas_take_tagged_block(a.dst, a.lines, a.n, uint32_t(i) + 1, limit))
CALL(notify, , ggas_notify(1, uint64_t(i), 0, limit))
CALL(broadcast_block, GGAS_LAUNCH_BOUNDS(256), ggas_broadcast_block(a.dst, a.src, a.n, 0, limit))
CALL(broadcast_grid, GGAS_LAUNCH_BOUNDS(256), ggas_broadcast_grid(a.dst, a.src, a.n, 0, limit))
CALL(allgather_block, GGAS_LAUNCH_BOUNDS(256), ggas_allgather_block(a.dst, a.src, a.n, limit))
CALL(allgather_grid, GGAS_LAUNCH_BOUNDS(256), ggas_allgather_grid(a.dst, a.src, a.n, limit))
CALL(alltoall_block, GGAS_LAUNCH_BOUNDS(256), ggas_alltoall_block(a.dst, a.src, a.n, limit))
CALL(gather_block, GGAS_LAUNCH_BOUNDS(256), ggas_gather_block(a.dst, a.src, a.n, 0, limit))
CALL(scatter_block, GGAS_LAUNCH_BOUNDS(256), ggas_scatter_block(a.dst, a.src, a.n, 0, limit))
CALL(allreduce_block, GGAS_LAUNCH_BOUNDS(256), ggas_allreduce_block(a.dst, a.src, a.n, ggas_sum, ggas_auto, limit))
CALL(allreduce_grid, GGAS_LAUNCH_BOUNDS(256), ggas_allreduce_grid(a.dst, a.src, a.n, ggas_sum, ggas_auto, limit))
CALL(reduce_block, GGAS_LAUNCH_BOUNDS(256), ggas_reduce_block(a.dst, a.src, a.n, ggas_sum, 0, ggas_auto, limit))
CALL(reducescatter_block, GGAS_LAUNCH_BOUNDS(256), ggas_reducescatter_block(a.dst, a.src, a.n, ggas_sum, limit))
