/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of different length, with gaps between them that do not change. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int *const all = malloc(ranks * (ranks + 1) * sizeof *all), *const n = malloc(ranks * sizeof *n),
             *const at = malloc(ranks * sizeof *at), *const out = malloc((ranks + 1) * sizeof *out);
  for (int i = 0; i < ranks; ++i) n[i] = i % 3, at[i] = i * (ranks + 1);
  for (int i = 0; i < ranks * (ranks + 1); ++i) all[i] = -1;
  for (int i = 0; i <= ranks; ++i) out[i] = 10 * me + i;
  MPI_Gatherv(out, me % 3, MPI_INT, all, n, at, MPI_INT, 0, WORLD);
  for (int i = 0; i < ranks * (ranks + 1) && me == 0; ++i) {
    const int rank = i / (ranks + 1), k = i % (ranks + 1);
    CHECK(all[i] == (k < n[rank] ? 10 * rank + k : -1));
  }
  free(all), free(n), free(at), free(out);
  END;
}
