/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank has a part of each other one. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int *const out = malloc(2 * ranks * sizeof *out), *const in = malloc(2 * ranks * sizeof *in);
  for (int i = 0; i < 2 * ranks; ++i) out[i] = 1000 * me + i;
  MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, WORLD);
  for (int i = 0; i < 2 * ranks; ++i) CHECK(in[i] == 1000 * (i / 2) + 2 * me + i % 2);
  free(out), free(in);
  END;
}
