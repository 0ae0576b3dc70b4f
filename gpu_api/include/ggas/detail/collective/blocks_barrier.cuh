// SPDX-License-Identifier: Apache-2.0
// barrier and sync of some blocks of a grid, of one node or of a team: they count themselves in the word of their
// group. With other nodes the first block makes a barrier at the index of the group, and informs the others. Included
// by collective.cuh.
#pragma once

#include "ggas/detail/collective/block_barrier.cuh"
#include "ggas/detail/sync/barrier_grid.cuh"

namespace ggas::detail {

GGAS_DEVICE bool blocks_good(const blocks_group& g) {
  const uint64_t at = reinterpret_cast<uintptr_t>(g.word) - reinterpret_cast<uintptr_t>(device_context().local);
  return (g.count != 0) & (g.count <= layout::max_blocks) & (g.block() < g.count) &
         (g.first + g.count <= block_count()) & (at % 8 == 0) & (at < device_context().segment_bytes);
}

// A barrier of the blocks of the group. `between`, if any, is called by the first block after all have arrived and
// before they continue.
template <meeting M, class Between>
GGAS_DEVICE ggas_status meet_around(const blocks_group& g, bool several_nodes, uint64_t timeout_ns, Between between) {
  poll_deadline end(timeout_ns);
  if (M == meeting::barrier && nic_page()) {
    __syncthreads();
    if (is_first_thread()) fence_acq_rel_system();
  }
  ggas_status s = meet_here<M>(g.word, g.first, g.count, end);
  if (!several_nodes || s != ggas_ok) return s;
  if (g.block() == 0) s = between(end);
  if (s != ggas_ok && is_first_thread()) break_node();  // so the others are refused below
  poll_deadline longer(timeout_ns > ~0ull / 2 ? ~0ull : 2 * timeout_ns);
  const ggas_status reported = meet_here<M>(g.word, g.first, g.count, longer);
  return s == ggas_ok ? reported : s;
}

template <meeting M>
GGAS_DEVICE ggas_status meet(const blocks_group& g, const ggas_team& t, uint64_t timeout_ns) {
  if (!ggas_team_good(t) || !blocks_good(g) || (t.size > 1 && g.index >= barrier_indices())) return ggas_bad_argument;
  return meet_around<M>(g, t.size > 1, timeout_ns,
                        [&](poll_deadline&) { return meet_at_index<M>(timeout_ns, t, g.index); });
}

}  // namespace ggas::detail
