/* SPDX-License-Identifier: Apache-2.0 */
/* The clock does not go backwards. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  double last = MPI_Wtime();
  CHECK(MPI_Wtick() > 0);
  for (int i = 0; i < 1000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
  END;
}
