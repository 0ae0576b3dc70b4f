/* SPDX-License-Identifier: Apache-2.0 */
/* A persistent request is begun again and again. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int out = 0, in = -1;
  MPI_Request r[2];
  MPI_Send_init(&out, 1, MPI_INT, next, 1, WORLD, r);
  MPI_Recv_init(&in, 1, MPI_INT, before, 1, WORLD, r + 1);
  for (int round = 0; round < 10; ++round) {
    out = 100 * me + round;
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK(in == 100 * before + round);
  }
  MPI_Request_free(r);
  MPI_Request_free(r + 1);
  END;
}
