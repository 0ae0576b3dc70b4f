// SPDX-License-Identifier: Apache-2.0
// Host memory that GPUs reach, for packed data: kept for the next message, as making it takes the driver milliseconds.
// At most an eighth more than a message needs; of unused memory at most 64 MB are kept.
#pragma once

#include "userlib/mpi/gpu/driver.hpp"
#include "userlib/mpi/memory.hpp"

namespace ggas::mpi {

// A context of CUDA is current. Null: there is none.
staging pinned_memory(const driver& d, uint64_t bytes);

}  // namespace ggas::mpi
