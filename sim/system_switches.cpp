// SPDX-License-Identifier: Apache-2.0
// Switches between the NICs of a cluster (docs/open-networks.md).
#include <fmt/format.h>

#include <algorithm>

#include "sim/fabric/switch_network.hpp"
#include "sim/fabric/switch_port.hpp"
#include "sim/system.hpp"

namespace ggas::sim {

std::unique_ptr<fabric::switch_network> system::make_switches() const {
  const platform& p = cfg_.plat;
  return std::make_unique<fabric::switch_network>(
      "network", *shape_,
      fabric::switch_network_config{.bits_per_second = p.link.bits_per_second,
                                    .latency_ps = p.link.latency_ps,
                                    .nic_flit_ps = 1'000'000'000'000 / p.nic.hertz,
                                    .flit_bits = p.nic.data_width,
                                    .nic_units = nic::buffer_units});
}

// NICs of RTL at model switches, which the first rank has. Ends of cables at a switch have numbers after the nodes.
void system::wire_switches() {
  const fabric::graph& g = *shape_->switches();
  switches_ = make_switches();
  uint64_t flight_ps = ~uint64_t{0};
  for (unsigned n = 0; n < nodes(); ++n)
    for (unsigned port = 0; port < g.ports(n); ++port)
      flight_ps = std::min(flight_ps, switches_->latency_ps(n, port) + switches_->flit_ps(n, port));
  if (cfg_.all_ranks) join_ranks(flight_ps);
  for (unsigned n = 0; n < nodes(); ++n)
    for (unsigned port = 0; port < g.ports(n); ++port) {
      if (number() == 0) make_switch_port(n, port);
      if (!owns(n)) continue;
      fabric::flit_sink* const at = end_of_cable(nodes() + n, port);
      auto& out = nodes_[n]->out[port];
      out = std::make_unique<fabric::wire>(fmt::format("{}->switch", n), cable(n, port),
                                           at ? *at : lockstep_->remote(nodes() + n, port));
      nodes_[n]->bridge->connect(port, *out);
      nodes_[n]->bridge->link(port).carrier(true, 0);
    }
}

fabric::wire_config system::cable(unsigned vertex, unsigned port) const {
  const unsigned width = cfg_.plat.nic.data_width;
  return {.latency_ps = switches_->latency_ps(vertex, port),
          .bits_per_second = width * 1e12 / double(switches_->flit_ps(vertex, port)),
          .flit_bits = width};
}

// At that cable of a NIC, with the wire to the NIC.
void system::make_switch_port(unsigned n, unsigned port) {
  const fabric::end_of_link far = shape_->switches()->across(n, port);
  auto& at = *switch_ports_.emplace_back(std::make_unique<fabric::switch_port>(
      fmt::format("switch_port{}_{}", n, port), *switches_, n, port, cfg_.plat.nic.data_width, nic::buffer_units));
  fabric::flit_sink* const nic = end_of_cable(n, port);
  from_switches_.push_back(std::make_unique<fabric::wire>(fmt::format("switch->{}", n), cable(far.node, far.port),
                                                          nic ? *nic : lockstep_->remote(n, port)));
  at.connect(*from_switches_.back(), switches_->flit_ps(far.node, far.port));
  at.carrier(true, 0);
  switches_->attach(n, port, at);
}

// The end of a NIC's cable; nullptr if it belongs to another rank.
fabric::flit_sink* system::end_of_cable(unsigned end, unsigned port) {
  if (end < nodes()) return owns(end) ? &nodes_[end]->bridge->link(port) : nullptr;
  if (switch_ports_.empty()) return nullptr;
  size_t at = port;
  for (unsigned n = 0; n < end - nodes(); ++n) at += shape_->switches()->ports(n);
  return switch_ports_[at].get();
}

}  // namespace ggas::sim
