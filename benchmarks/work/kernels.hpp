// SPDX-License-Identifier: Apache-2.0
// Kernels of ggas-bench-work.
#pragma once

#include "ggas/kernel.hpp"

namespace ggas::bench {

GGAS_KERNEL(nothing, uint64_t* none);
// A thread that stays for so long.
GGAS_KERNEL(stay, uint64_t ns);
// Adds 1 to every element.
GGAS_KERNEL(increment, uint32_t* x, uint64_t n);

}  // namespace ggas::bench
