/* SPDX-License-Identifier: Apache-2.0 */
/* A probe waits for a message, says its length, and leaves it. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  if (me == 0) {
    const int v[5] = {1, 2, 3, 4, 5};
    MPI_Send(v, 5, MPI_INT, 1, 3, WORLD);
  } else if (me == 1) {
    int n, v[5] = {0};
    MPI_Status s;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &s);
    MPI_Get_count(&s, MPI_INT, &n);
    CHECK(n == 5 && s.MPI_SOURCE == 0 && s.MPI_TAG == 3);
    MPI_Recv(v, n, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, WORLD, NO_STATUS);
    CHECK(v[4] == 5);
  }
  END;
}
