/* SPDX-License-Identifier: Apache-2.0 */
/* A receive of any tag takes the oldest message, and says its tag. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  for (int tag = 5; tag > 0 && me == 0; --tag) MPI_Send(&tag, 1, MPI_INT, 1, tag, WORLD);
  for (int tag = 5; tag > 0 && me == 1; --tag) {
    int v;
    MPI_Status s;
    MPI_Recv(&v, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &s);
    CHECK(v == tag && s.MPI_TAG == tag);
  }
  END;
}
