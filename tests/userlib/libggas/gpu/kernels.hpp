// SPDX-License-Identifier: Apache-2.0
// Kernels of the tests of GPU segments: compiled for the host SIMT engine and by nvcc.
#pragma once

#include <cstdint>
#include <string>

#include "ggas/detail/platform/context.hpp"

namespace ggas::library_test {

// Words of 8 bytes in segments, as offsets in the memory of their ranks.
struct talk {
  int peer;
  uint64_t here, there;              // what the host puts here, what the kernel answers to the peer
  uint32_t *slot_here, *slot_there;  // notification slots in memory of the host
  uint32_t rounds;
};
struct meeting {
  uint64_t word, sum;  // the same offsets on all ranks
};

// Runs a kernel on this process's GPU until it ends; returns "" or the error. The kernel waits for a notification of
// each round, takes the word after it, answers with twice the word plus one, and notifies.
std::string run_answer(const context& c, const talk& t);
// All ranks: store to the right neighbour, barrier, then the sum of what all have got by allreduce.
std::string run_meeting(const context& c, const meeting& m);
// Each of n words of this rank from an offset on becomes twice itself and one. It waits for no one.
struct doubling {
  uint64_t first, n;
};
std::string run_doubling(const context& c, const doubling& d);

// Memory of the GPU that is the program's own.
void* own_memory(const context& c, uint64_t bytes);
void free_own_memory(void* memory);
const char* module_name();

}  // namespace ggas::library_test
