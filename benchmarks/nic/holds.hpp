// SPDX-License-Identifier: Apache-2.0
// Capacities of the RTL (nic::nic_limits): counted with a host that does not answer, or a wire that accepts nothing.
#pragma once

#include <vector>

#include "sim/nic/model/model_times.hpp"

namespace ggas::bench {

nic::nic_limits measure_limits(unsigned width);  // but for atomic_kept, atomic_gap (hand_on.hpp)
// How close together the reads of one long put or get follow each other.
std::vector<nic::pace_row> measure_cuts(unsigned width);

}  // namespace ggas::bench
