/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of different length, in another order than that of ranks. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int *const n = malloc(ranks * sizeof *n), *const at = malloc(ranks * sizeof *at),
             *const all = malloc(4 * ranks * sizeof *all);
  int v[4] = {-1, -1, -1, -1};
  for (int i = 0; i < ranks; ++i) n[i] = i % 4, at[i] = 4 * (ranks - 1 - i);
  for (int i = 0; i < 4 * ranks; ++i) all[i] = i;
  MPI_Scatterv(all, n, at, MPI_INT, v, me % 4, MPI_INT, 0, WORLD);
  for (int i = 0; i < 4; ++i) CHECK(v[i] == (i < me % 4 ? 4 * (ranks - 1 - me) + i : -1));
  free(n), free(at), free(all);
  END;
}
