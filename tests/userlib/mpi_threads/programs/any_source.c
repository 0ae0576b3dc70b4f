/* SPDX-License-Identifier: Apache-2.0 */
/* A receive of any source says who sent, and each message comes once. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  if (me != 0) {
    MPI_Send(&me, 1, MPI_INT, 0, 1, WORLD);
  } else {
    int seen[1024] = {0};
    for (int i = 1; i < ranks; ++i) {
      int v;
      MPI_Status s;
      MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &s);
      CHECK(s.MPI_SOURCE == v && s.MPI_TAG == 1 && seen[v]++ == 0);
    }
  }
  END;
}
