// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/limits.hpp"

#include <algorithm>

#include "sim/nic/packet.hpp"
#include "sim/platform/platform.hpp"

namespace ggas::bench {

unsigned link_limits::flits(unsigned payload_bytes) const {
  return nic::flit_count((payload_bytes + 3) / 4, data_width);
}

result<link_limits> find_limits(const cluster_config& cfg) {
  link_limits out;
  if (cfg.provider != "sim") return out;
  const auto p = sim::load_platform(cfg.platform, cfg.overrides);
  if (!p) return error{errc::bad_platform, p.error()};
  // If a node has several GPUs, some pairs are connected by a link, others by a switch.
  out.known = std::ranges::all_of(cfg.hosts, [](const host_config& h) { return h.gpus == 1; });
  out.data_width = p->nic.data_width;
  out.mtu_bytes = p->rma.mtu_bytes;
  out.line_bytes = static_cast<unsigned>(p->gpu["coalesce_bytes"].value_or<int64_t>(64));
  out.flits_per_s = std::min(p->link.bits_per_second / p->nic.data_width, static_cast<double>(p->nic.hertz));
  out.peer_read_bytes_per_s = p->root_complex.nic_to_gpu.np_bytes_per_second;
  return out;
}

}  // namespace ggas::bench
