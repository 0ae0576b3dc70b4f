/* SPDX-License-Identifier: Apache-2.0 */
/* Least and largest numbers, for all ranks. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v[2] = {(7 * me) % ranks, -me}, least[2], most[2];
  MPI_Allreduce(v, least, 2, MPI_INT, MPI_MIN, WORLD);
  MPI_Allreduce(v, most, 2, MPI_INT, MPI_MAX, WORLD);
  CHECK(least[1] == 1 - ranks && most[1] == 0 && least[0] == 0 && most[0] >= least[0] && most[0] < ranks);
  END;
}
