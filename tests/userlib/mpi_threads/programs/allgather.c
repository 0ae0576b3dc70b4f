/* SPDX-License-Identifier: Apache-2.0 */
/* All ranks have all parts, also in place. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int* const all = malloc(ranks * sizeof *all);
  const int mine = me * me;
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(all[i] == i * i);
  for (int i = 0; i < ranks; ++i) all[i] = i == me ? me + 1 : -1;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(all[i] == i + 1);
  free(all);
  END;
}
