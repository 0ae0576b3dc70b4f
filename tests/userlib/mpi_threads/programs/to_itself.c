/* SPDX-License-Identifier: Apache-2.0 */
/* A rank sends to itself. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = me, got = -1;
  MPI_Request r;
  MPI_Irecv(&got, 1, MPI_INT, me, 1, WORLD, &r);
  MPI_Send(&v, 1, MPI_INT, me, 1, WORLD);
  MPI_Wait(&r, NO_STATUS);
  CHECK(got == me);
  END;
}
