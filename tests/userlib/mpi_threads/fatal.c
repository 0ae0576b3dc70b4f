/* SPDX-License-Identifier: Apache-2.0 */
/* An error that the program has not asked for ends it, with the rank, the call and the reason. */
#include <mpi.h>

int main(void) {
  int me, word = 0;
  MPI_Init(0, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 1) MPI_Send(&word, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
