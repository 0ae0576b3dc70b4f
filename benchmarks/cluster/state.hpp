// SPDX-License-Identifier: Apache-2.0
// What a cluster has come to, in text: two runs that give the same have done the same.
#pragma once

#include <string>

#include "ggas/cluster.hpp"

namespace ggas::bench {

// A JSON line for each node: the point, the time, a digest of the segment, and all counters. Reading them takes
// simulated time.
std::string state_of(cluster& c, const std::string& point);

}  // namespace ggas::bench
