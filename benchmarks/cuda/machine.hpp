// SPDX-License-Identifier: Apache-2.0
// The GPUs of this computer: what they are called, what they can do at best.
#pragma once

#include <string>

#include "benchmarks/cuda/session.hpp"

namespace ggas::bench {

struct gpu_machine {
  int gpus = 0;
  std::string absent;    // why there is no GPU to be used; then nothing else is filled in
  std::string platform;  // GPU, interconnect, driver and CUDA: the key `platform` of records
  gpu_limits limits;
};

gpu_machine find_gpus();

}  // namespace ggas::bench
