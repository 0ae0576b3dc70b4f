/* SPDX-License-Identifier: Apache-2.0 */
/* The sum at each root, in turn. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  for (int root = 0; root < ranks; ++root) {
    long v[2] = {me + root, 1}, sum[2] = {-1, -1};
    MPI_Reduce(v, sum, 2, MPI_LONG, MPI_SUM, root, WORLD);
    if (me == root) CHECK(sum[0] == ranks * (ranks - 1) / 2 + ranks * root && sum[1] == ranks);
    if (me != root) CHECK(sum[0] == -1);
  }
  END;
}
