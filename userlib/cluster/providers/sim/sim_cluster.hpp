// SPDX-License-Identifier: Apache-2.0
// Provider "sim": the nodes of a cluster are simulated, with the RTL of the NIC and a model of the GPU (sim/gpu).
#pragma once

#include <memory>

#include "ggas/cluster.hpp"
#include "sim/system.hpp"

namespace ggas::userlib {

// `make_nic` instead of the NIC that cfg.nic names: for tests.
result<std::unique_ptr<cluster>> make_sim_cluster(const cluster_config& cfg, sim::nic_factory make_nic = {});

}  // namespace ggas::userlib
