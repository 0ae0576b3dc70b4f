/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of different length, for all ranks. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int *const n = malloc(ranks * sizeof *n), *const at = malloc(ranks * sizeof *at),
             *const all = malloc(3 * ranks * sizeof *all);
  const int mine[2] = {me, me + 1};
  for (int i = 0; i < ranks; ++i) n[i] = i % 3, at[i] = 3 * i;
  for (int i = 0; i < 3 * ranks; ++i) all[i] = -1;
  MPI_Allgatherv(mine, me % 3, MPI_INT, all, n, at, MPI_INT, WORLD);
  for (int i = 0; i < 3 * ranks; ++i) CHECK(all[i] == (i % 3 < n[i / 3] ? i / 3 + i % 3 : -1));
  free(n), free(at), free(all);
  END;
}
