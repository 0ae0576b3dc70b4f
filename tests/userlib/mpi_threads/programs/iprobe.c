/* SPDX-License-Identifier: Apache-2.0 */
/* A probe that does not wait finds nothing of another tag, and in the end the message. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int flag = 1, turns = 0;
  if (me == 0) MPI_Send(&me, 1, MPI_INT, 1, 3, WORLD);
  if (me == 1) {
    MPI_Iprobe(0, 4, WORLD, &flag, NO_STATUS);
    CHECK(!flag);
    for (; !flag && turns < 100000000; ++turns) MPI_Iprobe(0, 3, WORLD, &flag, NO_STATUS);
    CHECK(flag);
    MPI_Recv(&flag, 1, MPI_INT, 0, 3, WORLD, NO_STATUS);
    CHECK(flag == 0);
  }
  END;
}
