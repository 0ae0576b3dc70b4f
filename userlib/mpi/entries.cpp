// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/entries.hpp"

namespace ggas::mpi {

namespace {

std::atomic<bool> others_call{true};

template <class F>
void set(F& entry, F to) {
  __atomic_store_n(&entry, to, __ATOMIC_RELAXED);
}

}  // namespace

#define GGAS_MPI_STRAIGHT(name) set(ggas_mpi_entry_##name, below.name);
#define GGAS_MPI_THROUGH(name) set(ggas_mpi_entry_##name, &ours_##name);

void go_straight() {
  GGAS_MPI_ALL_BUT_RECEIVES(GGAS_MPI_STRAIGHT, GGAS_MPI_STRAIGHT)
  if (ggas_mpi_load_watch.unseen) {
    GGAS_MPI_BEGUN_RECEIVES(GGAS_MPI_STRAIGHT)
  }
  if (!others_call) {
    GGAS_MPI_RECEIVES(GGAS_MPI_STRAIGHT)
    GGAS_MPI_PROBES(GGAS_MPI_STRAIGHT)
  }
}

void go_through() {
  GGAS_MPI_ALL_BUT_RECEIVES(GGAS_MPI_THROUGH, GGAS_MPI_THROUGH)
  GGAS_MPI_BEGUN_RECEIVES(GGAS_MPI_THROUGH)
  GGAS_MPI_RECEIVES(GGAS_MPI_THROUGH)
  GGAS_MPI_PROBES(GGAS_MPI_THROUGH)
}

void other_threads_call(bool may) { others_call = may; }

}  // namespace ggas::mpi
