/* SPDX-License-Identifier: Apache-2.0 */
/* A receive that was cancelled takes no message. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = -1;
  MPI_Request r;
  if (me == 1) {
    int got = -1;
    MPI_Irecv(&v, 1, MPI_INT, 0, 1, WORLD, &r);
    MPI_Cancel(&r);
    if (r != MPI_REQUEST_NULL) MPI_Wait(&r, NO_STATUS);
    MPI_Send(NULL, 0, MPI_INT, 0, 2, WORLD);
    MPI_Recv(&got, 1, MPI_INT, 0, 1, WORLD, NO_STATUS);
    CHECK(v == -1 && got == 0);
  } else if (me == 0) {
    MPI_Recv(NULL, 0, MPI_INT, 1, 2, WORLD, NO_STATUS);
    MPI_Send(&me, 1, MPI_INT, 1, 1, WORLD);
  }
  END;
}
