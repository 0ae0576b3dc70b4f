/* SPDX-License-Identifier: Apache-2.0 */
/* All ranks send and receive at once, more than any of them could keep. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  enum { N = 50000 };
  int *const a = malloc(N * sizeof *a), *const b = malloc(N * sizeof *b);
  for (int i = 0; i < N; ++i) a[i] = me + i;
  MPI_Sendrecv(a, N, MPI_INT, next, 1, b, N, MPI_INT, before, 1, WORLD, NO_STATUS);
  for (int i = 0; i < N; ++i) CHECK(b[i] == before + i);
  free(a), free(b);
  END;
}
