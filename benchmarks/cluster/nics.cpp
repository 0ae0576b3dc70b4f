// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/nics.hpp"

#include <algorithm>
#include <string_view>

#include "benchmarks/nic/cycles.hpp"
#include "sim/fabric/topology.hpp"
#include "sim/nic/rtl/nic_rtl.hpp"
#include "sim/platform/platform.hpp"

namespace ggas::bench {

result<std::set<std::string>> nics_of(const command_line& line) {
  std::set<std::string> all;
  const cluster_config& cfg = line.opts.cluster;
  if (line.list || cfg.provider != "sim") return all;
  if (cfg.nic == "rtl") {
    const auto p = sim::load_platform(cfg.platform, cfg.overrides);
    if (!p) return error{errc::bad_platform, p.error()};
    const size_t computers = cfg.hosts.empty() ? size_t(cfg.nodes) : cfg.hosts.size();
    const auto shape = fabric::topology::parse(cfg.topology, unsigned(computers));
    if (!shape) return error{errc::bad_argument, shape.error()};
    all.insert(nic::nic_module(p->nic.data_width, shape->links_of_nic()));
  }
  if (std::ranges::any_of(line.chosen, [](const benchmark* b) { return std::string_view(b->name) == "nic_cycles"; }))
    for (const unsigned width : nic_cycles_widths(line.opts.quick)) all.insert(nic::nic_module(width, 1));
  all.erase("");  // there is no such NIC: the cluster will say so
  return all;
}

}  // namespace ggas::bench
