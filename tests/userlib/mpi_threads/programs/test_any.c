/* SPDX-License-Identifier: Apache-2.0 */
/* Of requests one that has ended, or none. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = 3, got = -1, flag = 1, which;
  MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Testany(2, r, &which, &flag, NO_STATUS);
  CHECK(flag && which == MPI_UNDEFINED);
  MPI_Irecv(&got, 1, MPI_INT, before, 1, WORLD, r + 1);
  MPI_Send(&v, 1, MPI_INT, next, 1, WORLD);
  for (flag = 0; !flag;) MPI_Testany(2, r, &which, &flag, NO_STATUS);
  CHECK(which == 1 && got == 3);
  END;
}
