// SPDX-License-Identifier: Apache-2.0
// Where the calls of a program arrive. Each function of MPI that this library has is one jump, by both of its names:
// to the function of this library (ours_Send for MPI_Send) or, in a process in which there is nothing to do
// (watch.hpp), straight to the MPI below.
#pragma once

#include "userlib/mpi/below.hpp"
#include "userlib/mpi/watch.hpp"

#define GGAS_MPI_OF_NAME(macro, name) macro(name, MPI_##name)
#define GGAS_MPI_OF_PERSISTENT_NAME(macro, name) macro(name, GGAS_MPI_PERSISTENT_NAME(name))

#define GGAS_MPI_DECLARE(name, mpi) \
  decltype(mpi) ours_##name;        \
  __attribute__((visibility("hidden"))) extern decltype(&mpi) ggas_mpi_entry_##name;
extern "C" {
#define GGAS_MPI_DECLARE_NAME(name) GGAS_MPI_OF_NAME(GGAS_MPI_DECLARE, name)
#define GGAS_MPI_DECLARE_PERSISTENT(name) GGAS_MPI_OF_PERSISTENT_NAME(GGAS_MPI_DECLARE, name)
GGAS_MPI_ALL(GGAS_MPI_DECLARE_NAME, GGAS_MPI_DECLARE_PERSISTENT)
#undef GGAS_MPI_DECLARE_NAME
#undef GGAS_MPI_DECLARE_PERSISTENT
}

// In the file that has ours_...
#define GGAS_MPI_NAMES(name) GGAS_MPI_OF_NAME(GGAS_MPI_ENTRY, name)
#define GGAS_MPI_PERSISTENT_NAMES(name) GGAS_MPI_OF_PERSISTENT_NAME(GGAS_MPI_ENTRY, name)
#define GGAS_MPI_ENTRY(name, mpi) GGAS_MPI_ENTRY_OF(name, mpi)
#if defined(__x86_64__)
#define GGAS_MPI_ENTRY_OF(name, mpi)                  \
  decltype(&mpi) ggas_mpi_entry_##name = ours_##name; \
  asm(".pushsection .text\n.p2align 4\n"              \
      ".globl " #mpi ", P" #mpi "\n.type " #mpi       \
      ", @function\n"                                 \
      ".type P" #mpi ", @function\n" #mpi ":\nP" #mpi \
      ":\n"                                           \
      "jmp *ggas_mpi_entry_" #name                    \
      "(%rip)\n"                                      \
      ".size " #mpi ", .-" #mpi "\n.size P" #mpi ", .-P" #mpi "\n.popsection");
#else
#define GGAS_MPI_ENTRY_OF(name, mpi)                       \
  decltype(&mpi) ggas_mpi_entry_##name = ours_##name;      \
  decltype(mpi) mpi __attribute__((alias("ours_" #name))); \
  decltype(mpi) P##mpi __attribute__((alias("ours_" #name)));
#endif

namespace ggas::mpi {

// Calls go straight to the MPI below from now on, or to this library. A receive that is begun goes straight once the
// process is known to have such receives; one that blocks, or a probe, unless other threads may call MPI meanwhile: one
// of them may load the driver, and then what comes may be a ticket.
void go_straight();
void go_through();
// Known when MPI begins; before, they may.
void other_threads_call(bool may);

}  // namespace ggas::mpi
