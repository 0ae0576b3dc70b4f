/* SPDX-License-Identifier: Apache-2.0 */
/* Puts and gets between two fences. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int memory[4] = {me, -1, -1, -1}, got = -1;
  MPI_Win w;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &w);
  MPI_Win_fence(0, w);
  MPI_Put(&me, 1, MPI_INT, next, 2, 1, MPI_INT, w);
  MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, w);
  MPI_Win_fence(0, w);
  CHECK(memory[2] == before && memory[1] == -1 && got == next);
  MPI_Win_free(&w);
  END;
}
