// SPDX-License-Identifier: Apache-2.0
// Shared by kernels and host program: pi by ranks that are threads of one launch.
#pragma once

#include "ggas/kernel.hpp"

constexpr unsigned blocks = 2, threads = 16;  // of each node
constexpr int intervals = 32;                 // of each rank

// What the host program starts. `sum`: offset of a float, which rank 0 writes.
GGAS_KERNEL(pi_point_to_point, uint64_t sum);
GGAS_KERNEL(pi_collective, uint64_t sum);
