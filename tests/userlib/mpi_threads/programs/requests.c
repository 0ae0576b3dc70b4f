/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives under way at the same time end together. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int out[4], in[4];
  MPI_Request r[8];
  for (int i = 0; i < 4; ++i) {
    out[i] = 10 * me + i;
    MPI_Irecv(in + i, 1, MPI_INT, before, i, WORLD, r + i);
  }
  for (int i = 3; i >= 0; --i) MPI_Isend(out + i, 1, MPI_INT, next, i, WORLD, r + 4 + i);
  MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 4; ++i) CHECK(in[i] == 10 * before + i);
  for (int i = 0; i < 8; ++i) CHECK(r[i] == MPI_REQUEST_NULL);
  END;
}
