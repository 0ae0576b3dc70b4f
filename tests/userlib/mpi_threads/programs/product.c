/* SPDX-License-Identifier: Apache-2.0 */
/* A product of doubles, in place. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  double v = me == 0 ? 0.5 : 2;
  MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_DOUBLE, MPI_PROD, WORLD);
  double expected = 0.5;
  for (int i = 1; i < ranks; ++i) expected *= 2;
  CHECK(v == expected);
  END;
}
