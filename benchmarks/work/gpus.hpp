// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ggas::bench {

// The GPUs that provider cuda has, for the key `platform` of records; empty in the program without CUDA.
std::string gpu_text();

}  // namespace ggas::bench
