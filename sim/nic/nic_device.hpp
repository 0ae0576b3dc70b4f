// SPDX-License-Identifier: Apache-2.0
// A NIC in a simulated node, as the cluster sees it: an endpoint of PCIe with three BARs, whatever serves them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "sim/pcie/packet.hpp"
#include "sim/pcie/port.hpp"

namespace ggas::nic {

struct bridge_config {
  uint16_t id = 0;             // completer id of what the bridge itself answers
  uint64_t rx_latency_ps = 0;  // PCIe core: wire to TLP boundary
  uint64_t tx_latency_ps = 0;  // PCIe core: TLP boundary to wire
  uint64_t descriptor_ps = 0;  // a write of descriptors takes so much longer, and so does what comes after it
  pcie::port_config port;
  unsigned posted_buffer = 32;  // posted TLPs between port and NIC; beyond, PCIe credits hold them back
};

inline constexpr size_t outbound_limit = 64;  // TLPs between the NIC and the wire before the NIC is held back

class nic_device {
 public:
  virtual ~nic_device() = default;
  virtual pcie::port& port() = 0;
  virtual pcie::bar_map& bars() = 0;
  virtual uint64_t active_cycles() const = 0;                    // of the RTL; 0 if none runs
  virtual std::map<std::string, uint64_t> counters() const = 0;  // by dotted name
  // What happened that it cannot simulate, the first time; empty: nothing. Results from then on are not to be used.
  const std::string& fault() const { return fault_; }

 protected:
  std::string fault_;
};

}  // namespace ggas::nic
