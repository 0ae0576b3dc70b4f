// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/work/gpus.hpp"

std::string ggas::bench::gpu_text() { return {}; }
