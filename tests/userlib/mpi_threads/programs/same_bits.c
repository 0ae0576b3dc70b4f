/* SPDX-License-Identifier: Apache-2.0 */
/* The same numbers give the same sum of floats each time, at all ranks. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  const float v = 1.0f / (float)(me + 3);
  float first, again, at_root;
  MPI_Allreduce(&v, &first, 1, MPI_FLOAT, MPI_SUM, WORLD);
  MPI_Allreduce(&v, &again, 1, MPI_FLOAT, MPI_SUM, WORLD);
  at_root = first;
  MPI_Bcast(&at_root, 1, MPI_FLOAT, 0, WORLD);
  CHECK(memcmp(&first, &again, sizeof first) == 0 && memcmp(&first, &at_root, sizeof first) == 0);
  END;
}
