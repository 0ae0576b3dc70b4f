// SPDX-License-Identifier: Apache-2.0
// Kernels of ggas-bench-work.
#pragma once

#include "ggas/work_table.hpp"

namespace ggas::bench {

GGAS_KERNEL(nothing, uint64_t* none);
// A thread that stays for so long.
GGAS_KERNEL(stay, uint64_t ns);
// Adds 1 to every element.
GGAS_KERNEL(increment, uint32_t* x, uint64_t n);

// A block that is busy for so long.
GGAS_KERNEL(busy, uint64_t ns);
// Block b waits for a new number in orders[b], and answers with it in answers[b]; all ones end it.
GGAS_KERNEL(answer_words, const uint64_t* orders, uint64_t* answers);
GGAS_WORKERS(bench_work);

}  // namespace ggas::bench
