/* SPDX-License-Identifier: Apache-2.0 */
/* The root has all parts in order of ranks. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int out[2] = {me, -me};
  int* const all = malloc(2 * ranks * sizeof *all);
  MPI_Gather(out, 2, MPI_INT, all, 2, MPI_INT, ranks - 1, WORLD);
  for (int i = 0; i < ranks && me == ranks - 1; ++i) CHECK(all[2 * i] == i && all[2 * i + 1] == -i);
  free(all);
  END;
}
