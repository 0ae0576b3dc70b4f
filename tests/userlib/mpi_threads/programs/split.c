/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a colour are a communicator, in order of their keys. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Comm half;
  int mine, size, sum, v = me;
  MPI_Comm_split(WORLD, me % 2, -me, &half);
  MPI_Comm_rank(half, &mine);
  MPI_Comm_size(half, &size);
  CHECK(size == (ranks + (me % 2 == 0)) / 2 && mine == size - 1 - me / 2);
  MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, half);
  int expected = 0;
  for (int i = me % 2; i < ranks; i += 2) expected += i;
  CHECK(sum == expected);
  MPI_Comm_free(&half);
  CHECK(half == MPI_COMM_NULL);
  END;
}
