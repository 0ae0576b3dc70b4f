/* SPDX-License-Identifier: Apache-2.0 */
/* No rank leaves a barrier before the last one has come. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  for (int round = 0; round < 20; ++round) {
    const int late = round % ranks;
    const double begin = MPI_Wtime();
    while (me == late && MPI_Wtime() - begin < 1e-3) continue;
    double came = MPI_Wtime();
    MPI_Barrier(WORLD);
    const double left = MPI_Wtime();
    MPI_Bcast(&came, 1, MPI_DOUBLE, late, WORLD);
    CHECK(left >= came);
  }
  END;
}
