// SPDX-License-Identifier: Apache-2.0
// How the RTL hands the new value of a word on to the next atomic on it, without a read of the host.
#pragma once

#include <vector>

#include "sim/nic/model/model_times.hpp"

namespace ggas::bench {

struct hand_on {
  unsigned kept = 0, gap = 0;             // nic_limits::atomic_kept, atomic_gap
  std::vector<nic::time_row> times = {};  // of an atomic that finds the value in progress
  std::vector<nic::pace_row> paces = {};  // of atomics that hand it on
};
hand_on measure_hand_on(unsigned width);

}  // namespace ggas::bench
