/* SPDX-License-Identifier: Apache-2.0 */
/* What is received takes the place of what is sent. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  double v = me;
  MPI_Sendrecv_replace(&v, 1, MPI_DOUBLE, next, 1, before, 1, WORLD, NO_STATUS);
  CHECK(v == before);
  END;
}
