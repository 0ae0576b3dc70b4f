// SPDX-License-Identifier: Apache-2.0
// A part of the program completes requests by the MPI directly, without the library: the library has to detect that,
// and leave all messages to the MPI.
#include "tests/userlib/mpi/rig.hpp"

using namespace mpi_test;

extern "C" int PMPI_Waitall(int n, MPI_Request* requests, MPI_Status* statuses) {
  return ALONE(Waitall)(n, requests, statuses);
}

MPI_CASE_ALONE(stays_out_where_others_complete, 2, false) {
  constexpr int doubles = 20;
  const typed col = column(doubles, 2);
  std::vector<double> out(2 * doubles, rank()), in(2 * doubles, -1);
  MPI_Request r[2];
  MPI_Irecv(in.data(), 1, col.type, 1 - rank(), 0, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out.data(), 1, col.type, 1 - rank(), 0, MPI_COMM_WORLD, &r[1]);
  CHECK(PMPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  CHECK(in[0] == 1 - rank() && in[1] == -1 && in[2 * doubles - 2] == 1 - rank());
}
