// SPDX-License-Identifier: Apache-2.0
// A network of switches as users write it on the command line (docs/open-networks.md).
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "sim/fabric/graph/graph.hpp"

namespace ggas::fabric {

// "leaf-spine:4x2x8", "fat-tree:4x2", "dragonfly:4x2x2", "torus:3x3x3x3", "torus:4x4:2" (two NICs at each switch) or
// the name of a file; settings may follow, as in "fat-tree:4x2,forward_ns=200,gbit_per_s=200,latency_ns=50". The
// returned graph is checked and has its tables. Returns nullopt if the text describes no such network. The error
// contains only the rule.
std::expected<std::optional<graph>, std::string> describe_switches(std::string_view text);

}  // namespace ggas::fabric
