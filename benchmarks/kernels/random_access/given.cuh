// SPDX-License-Identifier: Apache-2.0
// RandomAccess whose numbers come from the host: a kernel applies those that lie in the GPU's memory.
#pragma once

#include "benchmarks/kernels/random_access/random_access.cuh"

namespace ggas::bench {

inline constexpr unsigned given_threads = 256;

__global__ void given_updates(update_args a, uint64_t numbers, uint64_t count) {
  for (uint64_t i = global_thread(); i < count; i += global_threads()) apply_update(a, own<uint64_t>(numbers)[i]);
}

}  // namespace ggas::bench
