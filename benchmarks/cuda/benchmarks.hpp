// SPDX-License-Identifier: Apache-2.0
// The benchmarks on real GPUs, one function each; the files of the same names hold them.
#pragma once

#include "benchmarks/cuda/session.hpp"

namespace ggas::bench {

fault run_store_latency(gpu_session& s);
fault run_barrier(gpu_session& s);
fault run_energy(gpu_session& s);

}  // namespace ggas::bench
