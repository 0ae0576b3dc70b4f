// SPDX-License-Identifier: Apache-2.0
// Whether this library has anything to do for any message. In a process without the CUDA driver it has not, unless it
// packs host memory, too: its functions then cost a comparison. The driver may be loaded at any time by dlopen, which
// this library counts.
#pragma once

#include <atomic>
#include <cstdint>

namespace ggas::mpi {

struct load_watch {
  uint64_t loads = 0;                           // calls of dlopen; written by the function itself (watch.cpp)
  std::atomic<uint64_t> checked{~uint64_t{0}};  // after so many calls the driver was not there
  std::atomic<bool> unseen{false};              // a receive was begun that the library does not know
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

// The same before a receive is begun: later messages from GPUs cannot be handed over to it.
inline bool quiet_for_receive() {
  if (!quiet()) return false;
  if (!ggas_mpi_load_watch.unseen.load(std::memory_order_relaxed)) ggas_mpi_load_watch.unseen = true;
  return true;
}

}  // namespace ggas::mpi
