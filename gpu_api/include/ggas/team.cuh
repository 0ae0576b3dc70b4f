// SPDX-License-Identifier: Apache-2.0
// Teams: nodes first, first + stride, ... that do collectives together. A team is a value that every member makes for
// itself, with the same numbers; nothing is exchanged. Included by ggas.cuh.
#pragma once

#include "ggas/detail/access/access.cuh"

struct ggas_team {
  int first, stride, size;  // member i is node first + i * stride
  // 0 ... 3, 0 for all nodes. Teams that share a node need different ids as long as the cluster lives: what is counted
  // for an id goes on from one team to the next. Teams of the same id are the same, or disjoint and stay so.
  unsigned id;
};

GGAS_DEVICE ggas_team ggas_world() { return {0, 1, ggas_nodes(), 0}; }

// Size 0 if the numbers are not of a team: stride < 1, a member that does not exist, id 0 or above 3.
GGAS_DEVICE ggas_team ggas_team_strided(unsigned id, int first, int stride, int size) {
  const bool good = id > 0 && id < ggas::layout::teams && first >= 0 && stride > 0 && size > 0 &&
                    first < ggas_nodes() && (ggas_nodes() - 1 - first) / stride >= size - 1;
  return good ? ggas_team{first, stride, size, id} : ggas_team{0, 1, 0, 0};
}

GGAS_DEVICE int ggas_team_node(const ggas_team& t, int rank) { return t.first + rank * t.stride; }

// -1 if the node is no member.
GGAS_DEVICE int ggas_team_rank_of(const ggas_team& t, int node) {
  const int i = node - t.first;
  return i >= 0 && i % t.stride == 0 && i / t.stride < t.size ? i / t.stride : -1;
}
GGAS_DEVICE int ggas_team_rank(const ggas_team& t) { return ggas_team_rank_of(t, ggas_node()); }
// The numbers are of a team, and the calling node is a member. For ggas_world() the compiler knows it.
GGAS_DEVICE bool ggas_team_good(const ggas_team& t) {
  // No node at all: the program has not set the context.
  if (t.id == 0) return t.first == 0 && t.stride == 1 && t.size == ggas_nodes() && t.size > 0;
  const bool members_exist = t.first >= 0 && t.size > 0 && t.stride > 0 &&
                             t.first + static_cast<int64_t>(t.size - 1) * t.stride < ggas_nodes();
  return t.id < ggas::layout::teams && members_exist && ggas_team_rank(t) >= 0;
}
