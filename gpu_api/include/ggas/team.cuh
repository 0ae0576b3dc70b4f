// SPDX-License-Identifier: Apache-2.0
// Teams: nodes first, first + stride, ... that do collectives together. Kernels make up to three at a time, from
// numbers that all members know: nothing is exchanged, and nothing has to be freed. The host makes any number
// (ggas/teams.hpp). Included by ggas.cuh.
#pragma once

#include "ggas/detail/access/access.cuh"
#include "ggas/detail/sync/team_handle.hpp"

/// The team of all nodes.
GGAS_DEVICE ggas_team ggas_world() { return {0, 1, ggas_nodes(), 0}; }

/// The team of nodes first, first + stride, ... with `id`, 1 to 3. Its size is 0 if the numbers are invalid: stride <
/// 1, a member that does not exist, id 0 or above 3.
GGAS_DEVICE ggas_team ggas_team_strided(unsigned id, int first, int stride, int size) {
  const bool good = id > 0 && id < ggas::layout::teams && first >= 0 && stride > 0 && size > 0 &&
                    first < ggas_nodes() && (ggas_nodes() - 1 - first) / stride >= size - 1;
  return good ? ggas_team{first, stride, size, id} : ggas_team{0, 1, 0, 0};
}

/// Node of a rank of the team.
GGAS_DEVICE int ggas_team_node(const ggas_team& t, int rank) { return t.first + rank * t.stride; }

/// Rank of a node in the team, -1 if it is no member.
GGAS_DEVICE int ggas_team_rank_of(const ggas_team& t, int node) {
  const int i = node - t.first;
  if (t.stride == 1) return i >= 0 && i < t.size ? i : -1;  // as usual, without a division
  return i >= 0 && i % t.stride == 0 && i / t.stride < t.size ? i / t.stride : -1;
}
/// Own rank in the team, -1 if the node is no member.
GGAS_DEVICE int ggas_team_rank(const ggas_team& t) { return ggas_team_rank_of(t, ggas_node()); }
namespace ggas::detail {
// Whether the place that the id names lies in the segment, after the reserved area.
GGAS_DEVICE bool place_exists(unsigned id) {
  const context& c = device_context();
  const uint64_t place = layout::place(id), bytes = own_layout().placed_bytes();
  return place >= c.reserved && bytes <= c.segment_bytes && place <= c.segment_bytes - bytes;
}
}  // namespace ggas::detail

/// Whether the numbers describe a team that contains the calling node. For ggas_world() this is a compile-time
/// constant.
GGAS_DEVICE bool ggas_team_good(const ggas_team& t) {
  // No node at all: the program has not set the context.
  if (t.id == 0) return t.first == 0 && t.stride == 1 && t.size == ggas_nodes() && t.size > 0;
  const bool has_state = !ggas::layout::is_placed(t.id) || ggas::detail::place_exists(t.id);
  const bool members_exist = t.first >= 0 && t.size > 0 && t.stride > 0 &&
                             t.first + static_cast<int64_t>(t.size - 1) * t.stride < ggas_nodes();
  return has_state && members_exist && ggas_team_rank(t) >= 0;
}
