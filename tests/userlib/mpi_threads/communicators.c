/* SPDX-License-Identifier: Apache-2.0 */
/* Groups and communicators in C, with any number of ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MPI_TEST_DEVICE
#define TOGETHER
#include "../../gpu_api/mpi_communicators.h"

static void check(int line) {
  if (line == 0) return;
  fprintf(stderr, "mpi_communicators.h, line %d\n", line);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  int me, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* const own = malloc(COMM_TEST_NUMBERS(ranks) * sizeof *own);
  check(comm_split(me, ranks, own));
  check(comm_groups(me, ranks, own));
  check(comm_lists(me, ranks, own));
  free(own);
  MPI_Finalize();
  return 0;
}
