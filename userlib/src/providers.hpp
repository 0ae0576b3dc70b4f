// SPDX-License-Identifier: Apache-2.0
// The shm provider's entry point, and the checks all providers share.
#pragma once

#include "ggas/cluster.hpp"

namespace ggas {

result<std::unique_ptr<cluster>> create_shm(const cluster_config& cfg);

// Nodes, memory and queues: in range, and enough room for the reserved area.
result<> check_config(const cluster_config& cfg);
// A launch on a node of the cluster.
result<> check_launch(const cluster_config& cfg, int node, const simt::launch& l);
result<> check_program(const cluster_config& cfg, int node, const std::function<void(host&)>& program,
                       const std::string& name);

}  // namespace ggas
