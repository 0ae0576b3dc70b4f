/* SPDX-License-Identifier: Apache-2.0 */
/* A message that is longer than the buffer is an error; the next one arrives. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v[2] = {7, 8};
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  if (me == 0) {
    MPI_Send(v, 2, MPI_INT, 1, 1, WORLD);
    MPI_Send(v, 1, MPI_INT, 1, 1, WORLD);
  } else if (me == 1) {
    int got[2] = {0, 0};
    CLASS_OF(MPI_Recv(got, 1, MPI_INT, 0, 1, WORLD, NO_STATUS), MPI_ERR_TRUNCATE);
    CHECK(got[1] == 0);
    MPI_Recv(got, 2, MPI_INT, 0, 1, WORLD, NO_STATUS);
    CHECK(got[0] == 7 && got[1] == 0);
  }
  END;
}
