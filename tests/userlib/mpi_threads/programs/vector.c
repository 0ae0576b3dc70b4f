/* SPDX-License-Identifier: Apache-2.0 */
/* A column of a matrix becomes a row. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int m[4][5], row[4];
  MPI_Datatype column;
  MPI_Request r;
  MPI_Type_vector(4, 1, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < 20; ++i) m[i / 5][i % 5] = 100 * me + i;
  MPI_Isend(&m[0][2], 1, column, next, 1, WORLD, &r);
  MPI_Recv(row, 4, MPI_INT, before, 1, WORLD, NO_STATUS);
  MPI_Wait(&r, NO_STATUS);
  for (int i = 0; i < 4; ++i) CHECK(row[i] == 100 * before + 5 * i + 2);
  MPI_Type_free(&column);
  END;
}
