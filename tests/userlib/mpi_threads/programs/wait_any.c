/* SPDX-License-Identifier: Apache-2.0 */
/* One request of several has ended, and the others go on. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v[2] = {-1, -1}, which = -1;
  MPI_Request r[2];
  if (me == 0) {
    MPI_Irecv(v, 1, MPI_INT, 1, 1, WORLD, r);
    MPI_Irecv(v + 1, 1, MPI_INT, 1, 2, WORLD, r + 1);
    MPI_Waitany(2, r, &which, NO_STATUS);
    CHECK(which == 1 && v[1] == 20 && v[0] == -1);
    MPI_Send(NULL, 0, MPI_INT, 1, 3, WORLD);
    MPI_Waitany(2, r, &which, NO_STATUS);
    CHECK(which == 0 && v[0] == 10);
    MPI_Waitany(2, r, &which, NO_STATUS);
    CHECK(which == MPI_UNDEFINED);
  } else if (me == 1) {
    v[0] = 10, v[1] = 20;
    MPI_Send(v + 1, 1, MPI_INT, 0, 2, WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 3, WORLD, NO_STATUS);
    MPI_Send(v, 1, MPI_INT, 0, 1, WORLD);
  }
  END;
}
