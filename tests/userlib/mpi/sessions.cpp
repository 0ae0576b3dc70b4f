// SPDX-License-Identifier: Apache-2.0
// A program of MPI-4 sessions, two at a time, without MPI_Init and MPI_COMM_WORLD. (MPICH 4.0 cannot begin again after
// the last session has ended.)
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "userlib/mpi/mpi.hpp"

namespace {

#define MUST(condition)                                                              \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (0)

void exchange(MPI_Comm comm) {
  constexpr int doubles = 20;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Datatype column;
  MPI_Type_vector(doubles, 1, 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  std::vector<double> out(2 * doubles, rank), in(2 * doubles, -1);
  MPI_Request r[2];
  MPI_Irecv(in.data(), 1, column, 1 - rank, 0, comm, &r[0]);
  MPI_Isend(out.data(), 1, column, 1 - rank, 0, comm, &r[1]);
  MUST(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  MUST(in[0] == 1 - rank && in[1] == -1 && in[2 * doubles - 2] == 1 - rank);
  int mine = rank, other = -1;
  MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, 1, &other, 1, MPI_INT, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
  MUST(other == 1 - rank);
  MPI_Type_free(&column);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Session sessions[2];
  int rank = 0;
  for (MPI_Session& one : sessions) MUST(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one) == MPI_SUCCESS);
  for (MPI_Session& one : sessions) {
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(one, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "ggas", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    exchange(comm);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MUST(MPI_Session_finalize(&one) == MPI_SUCCESS);
  }
  const auto moved = reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, "ggas_mpi_types_moved"));
  MUST(moved && (moved() > 0) == (argc > 1));  // an argument: it has to take them
  if (rank == 0) std::printf("passed: sessions\n");
  return argv[0] == nullptr;
}
