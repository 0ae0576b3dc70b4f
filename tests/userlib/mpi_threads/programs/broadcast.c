/* SPDX-License-Identifier: Apache-2.0 */
/* Of each root, in turn. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  for (int root = 0; root < ranks; ++root) {
    double v[3] = {-1, -1, -1};
    for (int i = 0; i < 3 && me == root; ++i) v[i] = root + i;
    MPI_Bcast(v, 3, MPI_DOUBLE, root, WORLD);
    for (int i = 0; i < 3; ++i) CHECK(v[i] == root + i);
  }
  END;
}
