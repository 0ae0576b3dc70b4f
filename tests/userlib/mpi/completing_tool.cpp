// SPDX-License-Identifier: Apache-2.0
// A tool by MPI's profiling interface that only observes the completion of requests. It is a part of the program, so
// its functions are found before those of the library.
#include <cstdio>

#include "userlib/mpi/mpi.hpp"

namespace {

long calls = 0, completed = 0;

int seen(int error, long count) {
  ++calls;
  if (count > 0) completed += count;
  return error;
}

}  // namespace

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) { return seen(PMPI_Wait(request, status), 1); }
int MPI_Waitall(int n, MPI_Request* requests, MPI_Status* statuses) {
  return seen(PMPI_Waitall(n, requests, statuses), n);
}
int MPI_Waitany(int n, MPI_Request* requests, int* place, MPI_Status* status) {
  return seen(PMPI_Waitany(n, requests, place, status), 1);
}
int MPI_Waitsome(int n, MPI_Request* requests, int* finished, int* places, MPI_Status* statuses) {
  const int error = PMPI_Waitsome(n, requests, finished, places, statuses);
  return seen(error, *finished);
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const int error = PMPI_Test(request, done, status);
  return seen(error, *done);
}
int MPI_Testall(int n, MPI_Request* requests, int* done, MPI_Status* statuses) {
  const int error = PMPI_Testall(n, requests, done, statuses);
  return seen(error, *done ? n : 0);
}
int MPI_Testany(int n, MPI_Request* requests, int* place, int* done, MPI_Status* status) {
  const int error = PMPI_Testany(n, requests, place, done, status);
  return seen(error, *done);
}
int MPI_Testsome(int n, MPI_Request* requests, int* finished, int* places, MPI_Status* statuses) {
  const int error = PMPI_Testsome(n, requests, finished, places, statuses);
  return seen(error, *finished);
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::printf("tool: rank %d: %ld calls completed %ld requests\n", rank, calls, completed);
  return PMPI_Finalize();
}
}
