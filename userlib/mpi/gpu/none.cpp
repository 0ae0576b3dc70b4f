// SPDX-License-Identifier: Apache-2.0
// For a build without CUDA's headers and compiler: no data lie in memory of a GPU.
#include "userlib/mpi/memory.hpp"

namespace ggas::mpi {

memory* gpu_memory(const void*) { return nullptr; }
bool has_gpu_driver() { return false; }

}  // namespace ggas::mpi
