// SPDX-License-Identifier: Apache-2.0
// Whether this library has anything to do for any message. In a process without the CUDA driver it has not, unless it
// packs host memory, too: calls then go straight to the MPI below (entries.hpp). The driver may be loaded at any time
// by dlopen, which this library counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace ggas::mpi {

struct load_watch {
  uint64_t loads = 0;                             // calls of dlopen; written by dlopen itself (watch.cpp)
  std::atomic<uint64_t> checked{~uint64_t{0}};    // after so many calls the driver was not there
  std::atomic<uint64_t> only_host{~uint64_t{0}};  // the same, in a process that moves host memory
  std::atomic<bool> unseen{false};                // a receive was begun that the library does not know
};
extern "C" load_watch ggas_mpi_load_watch;

// Looks again. True: there is nothing to do.
bool still_quiet();

// Whether a library that was not there may have been loaded since; a caller that gets true has to look.
bool worth_a_look();
// As dlopen of a library that is loaded, which is not counted; null: it is not loaded.
void* find_loaded(const char* name);

inline uint64_t loads_now() { return __atomic_load_n(&ggas_mpi_load_watch.loads, __ATOMIC_RELAXED); }

inline bool quiet() {
  if (loads_now() == ggas_mpi_load_watch.checked.load(std::memory_order_relaxed)) [[likely]]
    return true;
  return still_quiet();
}

// This library moves host memory, and there is no GPU.
bool still_only_host();
inline bool only_host() {
  return loads_now() == ggas_mpi_load_watch.only_host.load(std::memory_order_relaxed) || still_only_host();
}

// As quiet(), before a receive is begun: later messages from GPUs cannot be handed over to it. The next call looks
// again, after which receives go straight to the MPI below, too.
inline bool quiet_for_receive() {
  if (!quiet()) return false;
  if (!ggas_mpi_load_watch.unseen.exchange(true)) ggas_mpi_load_watch.checked = ~uint64_t{0};
  return true;
}

}  // namespace ggas::mpi
