/* SPDX-License-Identifier: Apache-2.0 */
/* Either all requests end, or none of them. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v[2] = {-1, -1}, flag = 1;
  MPI_Request r[2];
  if (me == 0) {
    for (int i = 0; i < 2; ++i) MPI_Irecv(v + i, 1, MPI_INT, 1, i, WORLD, r + i);
    MPI_Recv(NULL, 0, MPI_INT, 1, 5, WORLD, NO_STATUS);
    MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(!flag && r[0] != MPI_REQUEST_NULL);
    MPI_Send(NULL, 0, MPI_INT, 1, 6, WORLD);
    while (!flag) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    CHECK(v[0] == 0 && v[1] == 1 && r[0] == MPI_REQUEST_NULL);
  } else if (me == 1) {
    v[0] = 0, v[1] = 1;
    MPI_Send(v, 1, MPI_INT, 0, 0, WORLD);
    MPI_Send(NULL, 0, MPI_INT, 0, 5, WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 6, WORLD, NO_STATUS);
    MPI_Send(v + 1, 1, MPI_INT, 0, 1, WORLD);
  }
  END;
}
