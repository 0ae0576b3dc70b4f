/* SPDX-License-Identifier: Apache-2.0 */
/* Data of several types in one message. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  char data[64];
  int at = 0, n = me, size;
  double v = me + 0.5;
  MPI_Pack_size(1, MPI_DOUBLE, WORLD, &size);
  CHECK(size >= 8);
  MPI_Pack(&n, 1, MPI_INT, data, sizeof data, &at, WORLD);
  MPI_Pack(&v, 1, MPI_DOUBLE, data, sizeof data, &at, WORLD);
  MPI_Sendrecv_replace(data, at, MPI_PACKED, next, 1, before, 1, WORLD, NO_STATUS);
  at = 0;
  MPI_Unpack(data, sizeof data, &at, &n, 1, MPI_INT, WORLD);
  MPI_Unpack(data, sizeof data, &at, &v, 1, MPI_DOUBLE, WORLD);
  CHECK(n == before && v == before + 0.5);
  END;
}
