/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank has its part of the sums, of one or of any length. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int *const v = malloc(2 * ranks * sizeof *v), *const n = malloc(ranks * sizeof *n);
  int sum[2] = {-1, -1};
  for (int i = 0; i < 2 * ranks; ++i) v[i] = me + i;
  for (int i = 0; i < ranks; ++i) n[i] = i % 2 == 0 && i + 1 < ranks ? 2 : i % 2 == 0 ? 1 : 0;
  MPI_Reduce_scatter_block(v, sum, 2, MPI_INT, MPI_SUM, WORLD);
  for (int i = 0; i < 2; ++i) CHECK(sum[i] == ranks * (ranks - 1) / 2 + ranks * (2 * me + i));
  sum[0] = sum[1] = -1;
  MPI_Reduce_scatter(v, sum, n, MPI_INT, MPI_SUM, WORLD);
  for (int i = 0; i < 2; ++i) CHECK(sum[i] == (i < n[me] ? ranks * (ranks - 1) / 2 + ranks * (me + i) : -1));
  free(v), free(n);
  END;
}
