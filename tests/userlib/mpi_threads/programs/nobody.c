/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to and from MPI_PROC_NULL end at once, and change nothing. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = 5, n = -1;
  MPI_Status s;
  MPI_Send(&v, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
  MPI_Recv(&v, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &s);
  MPI_Get_count(&s, MPI_INT, &n);
  CHECK(v == 5 && n == 0 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG);
  END;
}
