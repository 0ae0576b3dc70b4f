/* SPDX-License-Identifier: Apache-2.0 */
/* Messages are received by tag, in another order than they were sent. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  for (int tag = 0; tag < 20 && me == 0; ++tag) MPI_Send(&tag, 1, MPI_INT, 1, tag, WORLD);
  for (int tag = 19; tag >= 0 && me == 1; --tag) {
    int v = -1;
    MPI_Recv(&v, 1, MPI_INT, 0, tag, WORLD, NO_STATUS);
    CHECK(v == tag);
  }
  END;
}
