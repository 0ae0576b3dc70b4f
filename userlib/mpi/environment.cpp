// SPDX-License-Identifier: Apache-2.0
// Begin and end of MPI in a process.
#include <cstdio>

#include "userlib/mpi/direct/ranks.hpp"
#include "userlib/mpi/layouts.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

int begun_well(int error) {
  if (error != MPI_SUCCESS) return error;
  std::string wrong = setting_error();
  if (wrong.empty()) wrong = direct::setting_error();
  if (wrong.empty()) {
    int rank = 0, size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    direct::table::begin(rank, size);
    return error;
  }
  std::fprintf(stderr, "libggas_mpi_types: %s\n", wrong.c_str());
  return PMPI_Abort(MPI_COMM_WORLD, 2);
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

int MPI_Init(int* argc, char*** argv) { return begun_well(PMPI_Init(argc, argv)); }

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return begun_well(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize() {
  end_given_up();
  forget_persistent();
  direct::end_offers();
  direct::table::end();
  direct::forget_ranks();
  forget_layouts();
  return PMPI_Finalize();
}
}
