/* SPDX-License-Identifier: Apache-2.0 */
/* A rank may have many messages that no receive has asked for. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  enum { N = 40 };
  for (int i = 0; i < N; ++i) MPI_Send(&i, 1, MPI_INT, next, i, WORLD);
  for (int i = N - 1; i >= 0; --i) {
    int v = -1;
    MPI_Recv(&v, 1, MPI_INT, before, i, WORLD, NO_STATUS);
    CHECK(v == i);
  }
  END;
}
