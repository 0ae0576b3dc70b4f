// SPDX-License-Identifier: Apache-2.0
// The simulated computer of each node of the cluster. Computers have one NIC each; the nodes of one have consecutive
// numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "ggas/cluster_config.hpp"

namespace ggas::userlib {

struct home {
  unsigned host, gpu;  // gpu: which of the computer's
};

class homes {
 public:
  explicit homes(const cluster_config& cfg) {
    for (unsigned host = 0; host < hosts_of(cfg); ++host) {
      const auto gpus = cfg.hosts.empty() ? 1u : unsigned(cfg.hosts[host].gpus);
      first_.push_back(all_.size());
      for (unsigned g = 0; g < gpus; ++g) all_.push_back({host, g});
    }
  }
  const home& of(int node) const { return all_[size_t(node)]; }
  unsigned hosts() const { return unsigned(first_.size()); }
  unsigned gpus(unsigned host) const {
    return unsigned((host + 1 < first_.size() ? first_[host + 1] : all_.size()) - first_[host]);
  }
  int node(unsigned host, unsigned gpu) const { return int(first_[host] + gpu); }
  // Some computer has several GPUs.
  bool shared() const { return all_.size() != first_.size(); }

 private:
  static unsigned hosts_of(const cluster_config& cfg) {
    return unsigned(cfg.hosts.empty() ? size_t(cfg.nodes) : cfg.hosts.size());
  }
  std::vector<home> all_;      // by node
  std::vector<size_t> first_;  // by computer: its first node
};

}  // namespace ggas::userlib
