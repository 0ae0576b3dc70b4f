// SPDX-License-Identifier: Apache-2.0
#include "sim/pcie/switch.hpp"

namespace ggas::pcie {

packet_switch::packet_switch(sc_core::sc_module_name name, const switch_config& cfg)
    : router(name, {.id = cfg.id,
                    .rule = {.latency_ps = cfg.forward_ps},
                    .queue_limit = cfg.queue_packets,
                    .order = arbitration::in_turn}),
      ports_(cfg.ports) {
  upstream(add_port(std::string(basename()) + "_root", ports_));
}

port& packet_switch::add_device(const std::string& name, uint16_t id, uint64_t base, uint64_t bytes) {
  const unsigned index = add_port(name, ports_);
  map(index, base, bytes);
  attach(index, id);
  return at(index);
}

}  // namespace ggas::pcie
