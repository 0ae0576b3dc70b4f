// SPDX-License-Identifier: Apache-2.0
// Writes from GPU to GPU: direct, staged through the host, and hybrid with the limits that the tuner has found.
#pragma once

#include <cstddef>
#include <string>

namespace ggas::host_bench {

// Measures from rank 0 to rank 1 and prints a table on rank 0. Times are those of the library's clock, which is
// simulated on simulated ranks. Throws `failure`.
void measure_gpu_ways(const std::string& module, size_t most, bool quick, const std::string& json);

}  // namespace ggas::host_bench
