// SPDX-License-Identifier: Apache-2.0
// Networks of switches by their sizes (docs/open-networks.md#generators). The error is the rule alone.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "sim/fabric/graph/graph.hpp"

namespace ggas::fabric {

using made_graph = std::expected<graph, std::string>;

// `arity`-ary tree of so many levels: arity^levels NICs, each switch has `arity` ports down and as many up.
made_graph fat_tree(unsigned arity, unsigned levels);
// Each leaf has a cable to each spine, and so many NICs.
made_graph leaf_spine(unsigned leaves, unsigned spines, unsigned nics_of_leaf);
// Groups of `switches` switches that are all connected to each other. Each switch has `global` cables to other groups
// and `nics` NICs. `groups` 0: the largest possible number.
made_graph dragonfly(unsigned switches, unsigned global, unsigned nics_of_switch, unsigned groups);
// A switch with so many NICs at each place of a mesh or torus.
made_graph grid_of_switches(std::vector<unsigned> sizes, bool wraps, unsigned nics_of_switch);

}  // namespace ggas::fabric
