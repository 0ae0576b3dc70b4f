/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of all ranks up to the own one, with it and without it. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = me + 1, with = -1, without = -1;
  MPI_Scan(&v, &with, 1, MPI_INT, MPI_SUM, WORLD);
  MPI_Exscan(&v, &without, 1, MPI_INT, MPI_SUM, WORLD);
  CHECK(with == (me + 1) * (me + 2) / 2 && (me == 0 || without == with - v));
  END;
}
