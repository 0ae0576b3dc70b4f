/* SPDX-License-Identifier: Apache-2.0 */
/* A message of 800 KB arrives whole, and nothing outside the buffer changes. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  enum { N = 100000 };
  double* const v = malloc((N + 2) * sizeof *v);
  for (int i = 0; i < N + 2; ++i) v[i] = me == 0 ? i : -1;
  if (me == 0) MPI_Send(v + 1, N, MPI_DOUBLE, 1, 1, WORLD);
  if (me == 1) {
    MPI_Recv(v + 1, N, MPI_DOUBLE, 0, 1, WORLD, NO_STATUS);
    CHECK(v[0] == -1 && v[N + 1] == -1);
    for (int i = 1; i <= N; ++i) CHECK(v[i] == i);
  }
  free(v);
  END;
}
