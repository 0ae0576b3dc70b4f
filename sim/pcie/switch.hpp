// SPDX-License-Identifier: Apache-2.0
// A PCIe switch: a port to the root complex and any number of ports to devices. Traffic from a device to another one
// turns here and never reaches the root complex. Each input keeps the order of PCIe; inputs for the same output take
// turns; an output whose queue of a class is full blocks that class of its inputs, and withholds their credits.
#pragma once

#include <cstdint>
#include <string>

#include "sim/pcie/router.hpp"

namespace ggas::pcie {

struct switch_config {
  uint16_t id = 0;           // of its error completions
  uint64_t forward_ps = 0;   // from the last byte in to the queue of the output
  size_t queue_packets = 8;  // for each output and class
  port_config ports = {};    // receive buffers, of all ports
};

class packet_switch : public router {
 public:
  packet_switch(sc_core::sc_module_name name, const switch_config& cfg);

  // Towards the root complex: what belongs to none of the devices leaves here.
  port& root_side() { return at(root_port); }
  // A port more, for a device: requests to its addresses and completions of its reads leave here.
  port& add_device(const std::string& name, uint16_t id, uint64_t base, uint64_t bytes);

 private:
  static constexpr unsigned root_port = 0;
  port_config ports_;
};

}  // namespace ggas::pcie
