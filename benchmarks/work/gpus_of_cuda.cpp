// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cuda/machine.hpp"
#include "benchmarks/work/gpus.hpp"

std::string ggas::bench::gpu_text() { return find_gpus().platform; }
