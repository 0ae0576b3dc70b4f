// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/cuda/session.hpp"
#include "ggas/detail/platform/tuning.hpp"

namespace ggas::bench {

// Measures the methods of allreduce on the GPUs of the session and fills the tuning for them; prints what it finds.
fault tune(gpu_session& s, tuning& t);
// The same for data of datatypes: shapes of kernels, and rows that the copy engine takes.
fault tune_typed(gpu_session& s, tuning& t);

}  // namespace ggas::bench
