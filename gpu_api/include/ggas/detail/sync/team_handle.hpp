// SPDX-License-Identifier: Apache-2.0
// A team, for host and kernels: a value, the same at every member.
#pragma once

struct ggas_team {
  int first, stride, size;  // member i is node first + i * stride
  // Identifies the team's flags and channels: 0 for all nodes, 1 ... 3 for teams that kernels make, other ids for teams
  // of a ggas::team_space. Two teams of kernels that share a node need different ids as long as the cluster lives,
  // because counts of an id continue from one team to the next. Teams with one id are the same, or always disjoint.
  unsigned id;
};
