// SPDX-License-Identifier: Apache-2.0
// Mappings of a NIC that may be revoked at any time, as by a reset: then the next access is a SIGBUS. Here it reads
// zeros instead, and sets a flag.
#pragma once

#include <atomic>
#include <cstddef>

namespace ggas::library::hw {

// Faults outside these mappings go to the process that handled SIGBUS before. False: there are too many mappings.
bool guard(volatile void* at, size_t bytes, std::atomic<bool>* lost);
// Before they are unmapped: of all mappings with that flag.
void unguard(std::atomic<bool>* lost);

}  // namespace ggas::library::hw
