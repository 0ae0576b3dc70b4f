/* SPDX-License-Identifier: Apache-2.0 */
/* A test does not wait: first nothing has come, in the end the message. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = -1, flag = 1;
  MPI_Request r;
  if (me == 0) {
    MPI_Irecv(&v, 1, MPI_INT, 1, 1, WORLD, &r);
    MPI_Test(&r, &flag, NO_STATUS);
    CHECK(!flag && r != MPI_REQUEST_NULL);
    MPI_Send(NULL, 0, MPI_INT, 1, 2, WORLD);
    while (!flag) MPI_Test(&r, &flag, NO_STATUS);
    CHECK(v == 4);
    MPI_Test(&r, &flag, NO_STATUS);
    CHECK(flag);
  } else if (me == 1) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 2, WORLD, NO_STATUS);
    v = 4;
    MPI_Send(&v, 1, MPI_INT, 0, 1, WORLD);
  }
  END;
}
