/* SPDX-License-Identifier: Apache-2.0 */
/* A message in parts, which are ready in any order. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int out[8], in[8], flag = 0;
  MPI_Request r[2];
  MPI_Psend_init(out, 4, 2, MPI_INT, next, 1, WORLD, MPI_INFO_NULL, r);
  MPI_Precv_init(in, 2, 4, MPI_INT, before, 1, WORLD, MPI_INFO_NULL, r + 1);
  for (int round = 0; round < 3; ++round) {
    MPI_Startall(2, r);
    for (int i = 0; i < 4; ++i) {
      const int part = (3 * i + 1) % 4;
      for (int k = 0; k < 2; ++k) out[2 * part + k] = 100 * me + 10 * round + 2 * part + k;
      MPI_Pready(part, r[0]);
    }
    while (!flag) MPI_Parrived(r[1], 1, &flag);
    CHECK(in[7] == 100 * before + 10 * round + 7);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 8; ++i) CHECK(in[i] == 100 * before + 10 * round + i);
    flag = 0;
  }
  MPI_Request_free(r);
  MPI_Request_free(r + 1);
  END;
}
