// SPDX-License-Identifier: Apache-2.0
// A job for test_leftovers.py: rank 0 prints the place of the library's shared memory, and the job dies or ends as
// requested.
//   leftovers die|end|stay [quietly]   quietly: the launcher does not report the number of processes, so that the name
//                                      stays; stay: ends when the standard input does
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "userlib/mpi/mpi.hpp"

namespace {

std::string shared_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (const size_t at = line.find("/dev/shm/ggas-mpi-"); at != std::string::npos) return line.substr(at);
  return "none";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (argc > 2 && std::strcmp(argv[2], "quietly") == 0) {
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    unsetenv("MPI_LOCALNRANKS");
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::printf("shared: %s\n", shared_memory().c_str());
  std::fflush(stdout);
  if (how == "stay" && rank == 0)
    while (std::getchar() != EOF) {
    }
  MPI_Barrier(MPI_COMM_WORLD);
  if (how == "die") kill(getpid(), SIGKILL);
  return MPI_Finalize();
}
