// SPDX-License-Identifier: Apache-2.0
// Provider "sim": the nodes of a cluster are simulated, with the RTL of the NIC and a model of the GPU (sim/gpu).
#pragma once

#include <memory>

#include "ggas/cluster.hpp"

namespace ggas::userlib {

result<std::unique_ptr<cluster>> make_sim_cluster(const cluster_config& cfg);

}  // namespace ggas::userlib
