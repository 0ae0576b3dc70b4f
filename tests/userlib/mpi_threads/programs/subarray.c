/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a field of two dimensions. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  const int sizes[] = {6, 7}, part[] = {2, 3}, first[] = {1, 4};
  int m[6][7], got[6];
  MPI_Datatype block;
  MPI_Request r;
  MPI_Type_create_subarray(2, sizes, part, first, MPI_ORDER_C, MPI_INT, &block);
  MPI_Type_commit(&block);
  for (int i = 0; i < 42; ++i) m[i / 7][i % 7] = 100 * me + i;
  MPI_Isend(m, 1, block, next, 1, WORLD, &r);
  MPI_Recv(got, 6, MPI_INT, before, 1, WORLD, NO_STATUS);
  MPI_Wait(&r, NO_STATUS);
  for (int i = 0; i < 6; ++i) CHECK(got[i] == 100 * before + (1 + i / 3) * 7 + 4 + i % 3);
  MPI_Type_free(&block);
  END;
}
