/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a communicator are not received in its copy. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Comm copy;
  int same, a = 1, b = 2, got;
  MPI_Request r[2];
  MPI_Comm_dup(WORLD, &copy);
  MPI_Comm_compare(WORLD, copy, &same);
  CHECK(same == MPI_CONGRUENT);
  MPI_Isend(&a, 1, MPI_INT, next, 1, WORLD, r);
  MPI_Isend(&b, 1, MPI_INT, next, 1, copy, r + 1);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, NO_STATUS);
  CHECK(got == 2);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, NO_STATUS);
  CHECK(got == 1);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&copy);
  END;
}
