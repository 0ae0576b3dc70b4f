/* SPDX-License-Identifier: Apache-2.0 */
/* A message of one int to the next rank. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int sent = 10 * me, got = -1;
  MPI_Request r;
  MPI_Isend(&sent, 1, MPI_INT, next, 1, WORLD, &r);
  MPI_Recv(&got, 1, MPI_INT, before, 1, WORLD, NO_STATUS);
  MPI_Wait(&r, NO_STATUS);
  CHECK(got == 10 * before);
  END;
}
