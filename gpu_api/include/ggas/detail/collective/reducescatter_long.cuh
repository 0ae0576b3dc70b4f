// SPDX-License-Identifier: Apache-2.0
// reducescatter. Included by long.cuh.
#pragma once

#include "ggas/detail/collective/allreduce_long.cuh"
#include "ggas/detail/collective/reducescatter.cuh"

namespace ggas::detail {

// Like direct, but each member loads its part of every member's vector and stores the result only to itself.
template <class T>
GGAS_DEVICE ggas_status combine_own_part(channel& c, const piece<T>& p, unsigned block, unsigned blocks,
                                         poll_deadline& end) {
  return between_places(c, p, end, [&](vector_table& at) {
    for (int i = static_cast<int>(thread_rank()); i < c.team.size; i += static_cast<int>(thread_count()))
      at.src[i] += static_cast<size_t>(c.rank) * p.step * sizeof(T);
    __syncthreads();
    move_all(c, at, p, block, blocks);
    __syncthreads();
    return finish_stores(
        c, [] {}, end);
  });
}

// Used by a single block if a part exceeds its channel's slot: one exchange over a bundle of channels. It is separate
// from the other methods, because it needs other registers.
template <class T>
GGAS_DEVICE bool takes_bundle(size_t n, unsigned blocks) {
  return blocks == 1 && lines_of<T>(n) > channel::lines() && fits_bundle<T>(n);
}
template <class T>
GGAS_DEVICE_FUNCTION ggas_status scatter_by_bundle(piece<T> p, ggas_team team, uint64_t timeout_ns) {
  return between_open_and_close(team, 0, timeout_ns,
                                [&](channel& c, poll_deadline& end) { return one_shot_bundled<true>(c, p, end); });
}

// In lines where they are few, or peers' memory is not memory.
template <class T>
GGAS_APART ggas_status reducescatter(piece<T> p, unsigned block, unsigned blocks, ggas_team team, uint64_t timeout_ns) {
  if (!ggas_team_good(team) || !operation_good<T>(p.op)) return ggas_bad_argument;
  if (p.n == 0) return ggas_ok;
  const auto members = static_cast<size_t>(team.size);
  if (p.n > ggas_segment_bytes() / sizeof(T) || !vector_good(p.src, p.n * members) || !vector_good(p.dst, p.n))
    return ggas_bad_argument;
  const unsigned used = usable_channels(blocks);
  if (block >= used) return ggas_ok;
  const bool lines = p.n * members * sizeof(T) <= limits_of(blocks).two_shot || !direct_possible(team);
  if (lines && takes_bundle<T>(p.n, blocks)) return scatter_by_bundle(p, team, timeout_ns);
  const piece<T> part = part_of_block(p, part_elements<T>(p.n, used), block);
  if (lines && part.n == 0) return ggas_ok;
  return between_open_and_close(team, block, timeout_ns, [&](channel& c, poll_deadline& end) {
    return lines ? one_shot(c, part, end) : combine_own_part(c, p, block, used, end);
  });
}

}  // namespace ggas::detail
