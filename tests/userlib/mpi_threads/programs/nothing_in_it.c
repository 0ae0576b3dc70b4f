/* SPDX-License-Identifier: Apache-2.0 */
/* A message without data has source and tag, and count 0. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  if (me == 0) MPI_Send(NULL, 0, MPI_DOUBLE, 1, 7, WORLD);
  if (me == 1) {
    int n = -1;
    MPI_Status s;
    MPI_Recv(NULL, 0, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &s);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    CHECK(n == 0 && s.MPI_SOURCE == 0 && s.MPI_TAG == 7);
  }
  END;
}
