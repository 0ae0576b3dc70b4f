// SPDX-License-Identifier: Apache-2.0
// Descriptions of networks in files (docs/open-networks.md#files). `file` is for messages, which name file and line.
#pragma once

#include <string_view>

#include "sim/fabric/graph/generators.hpp"

namespace ggas::fabric {

// anynet of BookSim: "router 0 node 0 node 1 router 1 15".
made_graph read_anynet(std::string_view text, std::string_view file);
// What ibnetdiscover prints and ibsim reads.
made_graph read_ibnetdiscover(std::string_view text, std::string_view file);

struct described_network {
  graph network;
  routing how = routing::automatic;
};
// TOML: nics, switches, [[link]].
std::expected<described_network, std::string> read_network_toml(std::string_view text, std::string_view file);

}  // namespace ggas::fabric
