/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank has its part of the root's. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int* const all = malloc(3 * ranks * sizeof *all);
  int v[3];
  for (int i = 0; i < 3 * ranks; ++i) all[i] = me == 1 ? i : -1;
  MPI_Scatter(all, 3, MPI_INT, v, 3, MPI_INT, 1, WORLD);
  for (int i = 0; i < 3; ++i) CHECK(v[i] == 3 * me + i);
  free(all);
  END;
}
