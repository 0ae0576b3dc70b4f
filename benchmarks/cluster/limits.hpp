// SPDX-License-Identifier: Apache-2.0
// What the links of a platform can carry at best: payload bounds from flit counts (docs/packet-format.md).
#pragma once

#include <cstdint>

#include "ggas/cluster.hpp"

namespace ggas::bench {

struct link_limits {
  bool known = false;                // false: no simulated link, or not between all nodes
  unsigned data_width = 0;           // bits
  unsigned mtu_bytes = 0;            // largest payload of a packet
  unsigned line_bytes = 0;           // largest access the GPU makes of neighbouring ones
  double flits_per_s = 0;            // the slower of link and core clock
  double peer_read_bytes_per_s = 0;  // reads of a GPU's BAR through the root complex; 0: no bound of its own

  // Flits of a packet with so many payload bytes.
  unsigned flits(unsigned payload_bytes) const;
  double packets_per_s(unsigned payload_bytes) const { return flits_per_s / flits(payload_bytes); }
  double payload_bytes_per_s(unsigned payload_bytes) const { return packets_per_s(payload_bytes) * payload_bytes; }
};

// Reads the platform file; a provider without simulated links has no limits. Checks the platform on the way.
result<link_limits> find_limits(const cluster_config& cfg);

}  // namespace ggas::bench
