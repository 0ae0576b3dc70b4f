/* SPDX-License-Identifier: Apache-2.0
 * start_mpi_program world|split|twice|missing|null: jobs made of communicators; says what came of it. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "ggas/ggas.h"

static int run(const void* communicator, uint64_t timeout) {
  ggas_process* p = NULL;
  uint32_t me = 0, all = 0;
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  ggas_rc rc = ggas_process_start_by(&p, "mpi", communicator, timeout);
  if (rc == GGAS_OK) ggas_process_rank(p, &me), ggas_process_size(p, &all);
  const uint64_t mine = (uint64_t)world + 1;
  uint64_t sum = 0;
  if (rc == GGAS_OK)
    rc = ggas_group_allreduce(p, &mine, &sum, 1, GGAS_ELEMENT_UINT64, GGAS_OP_SUM, GGAS_GROUP_ALL, timeout);
  if (rc == GGAS_OK)
    printf("%d is rank %u of %u, sum %u\n", world, me, all, (unsigned)sum);
  else
    printf("%d: error %d: %s\n", world, (int)rc, ggas_error_text());
  fflush(stdout);
  ggas_process_stop(p);
  return rc == GGAS_OK ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "world";
  const uint64_t second = 1000000000u;
  int world = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  if (strcmp(what, "split") == 0) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &half);
    run(&half, 20 * second);
    MPI_Comm_free(&half);
  } else if (strcmp(what, "missing") == 0) {
    if (world != 1) run(NULL, second / 2);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0; /* the communicator's collective is still under way: MPI cannot end well */
  } else if (strcmp(what, "null") == 0) {
    const MPI_Comm none = MPI_COMM_NULL;
    run(&none, second);
  } else {
    run(NULL, 20 * second);
    if (strcmp(what, "twice") == 0) run(NULL, 20 * second);
  }
  MPI_Finalize();
  return 0;
}
