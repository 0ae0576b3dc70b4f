// SPDX-License-Identifier: Apache-2.0
// Kernels of the tests of host programs, declared for those programs. Offsets are the same in every segment.
#pragma once

#include "ggas/detail/sync/team_handle.hpp"
#include "ggas/kernel.hpp"

namespace ggas::test {

// A kernel of a random order: where its mark is, and whose marks it must find, at most two.
struct in_order {
  uint64_t own;
  int32_t nodes[2];  // -1: none
  uint64_t marks[2];
  uint64_t wrong;  // counts marks that were not there
};

// Stores 100 + the own number at `place` of the right neighbour, meets all, adds up the numbers; a block.
GGAS_KERNEL(greet, uint64_t place, uint64_t found, uint64_t sum, uint64_t status, uint64_t timeout_ns);
// Thread 0 waits until *word is `value`, or without end; *status says how that went.
GGAS_KERNEL(wait_for, uint64_t word, uint64_t value, uint64_t status, uint64_t timeout_ns);
GGAS_KERNEL(put_down, uint64_t word, uint64_t value);
GGAS_KERNEL(follow, in_order what);
// Doubles n numbers of pinned memory.
GGAS_KERNEL(double_all, uint64_t* numbers, uint64_t n);
// Reverses `n` numbers of the segment through the block's dynamic shared memory.
GGAS_KERNEL(reverse, uint64_t numbers, uint64_t n);
// All blocks meet.
GGAS_KERNEL(meet, uint64_t status, uint64_t timeout_ns);
// Rounds of barriers and sums of the members' numbers, of 1 and of 3,000 elements at `vector`, by a block or the grid.
GGAS_KERNEL(use_team, ggas_team team, uint64_t rounds, uint64_t vector, uint64_t status, uint64_t timeout_ns);
// Each block puts down when it started, and stays for a while.
GGAS_KERNEL(note_start, uint64_t times, unsigned sleep_ns);
// No one compiles it.
GGAS_KERNEL(missing, int number);

}  // namespace ggas::test
