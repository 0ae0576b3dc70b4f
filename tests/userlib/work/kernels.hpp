// SPDX-License-Identifier: Apache-2.0
// Kernels of the tests of requests.
#pragma once

#include "ggas/work_table.hpp"

namespace ggas::test {

// Changes all three: rw[i] = 3 rw[i] + ro[i], wo[i] = the new one ^ ro[i], and ro[i] = 0.
GGAS_KERNEL(mix, uint32_t* rw, uint32_t* ro, uint32_t* wo, uint64_t n);
// Grid and block as they are, and whether `shared` bytes of dynamic shared memory hold what is written there.
GGAS_KERNEL(note_shape, uint32_t* found, uint64_t shared);
// Adds to each of n numbers.
GGAS_KERNEL(add_to, uint64_t* x, uint64_t n, uint64_t what);
// out[0] = x[0].
GGAS_KERNEL(look, uint64_t* out, const uint64_t* x);
// Until a word of pinned memory is `least` or more; 20 s at most.
GGAS_KERNEL(wait_word, const uint64_t* word, uint64_t least);
// x[block] = 1; the last block waits as wait_word does.
GGAS_KERNEL(end_late, const uint64_t* word, uint64_t least, uint64_t* x);
// A step of the random test: b by a, c by b, sum of both.
GGAS_KERNEL(random_step, const uint32_t* a, uint64_t na, uint32_t* b, uint64_t nb, uint32_t* c, uint64_t nc,
            uint64_t* sum, uint32_t k);

// Each virtual block adds 1 to its own number, and 1 to the count of the block of the GPU that ran it.
GGAS_KERNEL(count_blocks, uint64_t* virtual_blocks, uint64_t* real_blocks);
// Returns that status in one of its blocks.
GGAS_KERNEL(fail_with, int status);
// Its blocks meet `times` times; each time they see what the others wrote. wrong[block] counts.
GGAS_KERNEL(meet_often, uint64_t* words, uint64_t times, uint64_t* wrong);
// Rings the workers of the next node `times` times: add_one of a word there, and waits for each. *wrong: what failed.
GGAS_KERNEL(ring_others, ggas_workers to, int function, uint64_t at, uint64_t done, uint64_t times, uint64_t* wrong);
GGAS_KERNEL(add_one, uint64_t at);
GGAS_KERNEL(not_in_the_table, uint64_t at);
// ids[block]: the multiprocessor that runs it (0 on the host engine).
GGAS_KERNEL(note_multiprocessor, uint32_t* ids);
// Changes the last bit of each byte.
GGAS_KERNEL(flip, std::byte* x, uint64_t n);
// A fault of the GPU, or of the host engine.
GGAS_KERNEL(break_gpu, int none);
GGAS_WORKERS(test_work);
GGAS_WORKERS(unknown_work);  // not defined

// The same on the host.
inline uint64_t random_step_of(const uint32_t* a, uint64_t na, uint32_t* b, uint64_t nb, uint32_t* c, uint64_t nc,
                               uint32_t k) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < nb; ++i) sum += b[i] = 5 * b[i] + (na ? a[i % na] : 0) + k;
  for (uint64_t i = 0; i < nc; ++i) sum += c[i] = static_cast<uint32_t>(k ^ i) + (nb ? b[i % nb] : 0);
  return sum;
}

}  // namespace ggas::test
