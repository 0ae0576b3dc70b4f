// SPDX-License-Identifier: Apache-2.0
// A team, for host and kernels: a value, the same at every member.
#pragma once

struct ggas_team {
  int first, stride, size;  // member i is node first + i * stride
  // Where the team's flags and channels lie. 0 for all nodes, 1 ... 3 for teams that kernels make. Of these such that
  // share a node need different ids as long as the cluster lives: what is counted for an id goes on from one team to
  // the next. Teams of the same id are the same, or disjoint and stay so. Others: of a ggas::team_space.
  unsigned id;
};
