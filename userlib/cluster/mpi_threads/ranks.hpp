// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of the host engine: what the calls in C know of them.
#pragma once

#include <cstdint>
#include <string>

namespace ggas::mpi_threads {

// How long a call waits before it ends with an error.
inline constexpr uint64_t timeout_ns = 600'000'000'000;

unsigned own_rank();  // of the calling thread

struct rank_state {
  bool initialized = false, finalized = false, errors_return = false;
  int returned = 0;  // by main()
  static rank_state& mine();
};

// Says why, and ends the process with that exit status.
[[noreturn]] void end_program(const std::string& why, int status);

std::string computer_name();

}  // namespace ggas::mpi_threads
