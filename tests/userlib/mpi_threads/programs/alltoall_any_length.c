/* SPDX-License-Identifier: Apache-2.0 */
/* The part for a rank is as long as both ranks together say. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int *const n = malloc(ranks * sizeof *n), *const at = malloc(ranks * sizeof *at),
             *const out = malloc(4 * ranks * sizeof *out), *const in = malloc(4 * ranks * sizeof *in);
  for (int i = 0; i < ranks; ++i) n[i] = (me + i) % 4, at[i] = 4 * i;
  for (int i = 0; i < 4 * ranks; ++i) out[i] = 1000 * me + i, in[i] = -1;
  MPI_Alltoallv(out, n, at, MPI_INT, in, n, at, MPI_INT, WORLD);
  for (int i = 0; i < 4 * ranks; ++i) CHECK(in[i] == (i % 4 < n[i / 4] ? 1000 * (i / 4) + 4 * me + i % 4 : -1));
  free(n), free(at), free(out), free(in);
  END;
}
