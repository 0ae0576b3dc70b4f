/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of different length, received into other places; the gaps do not change. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  const int lengths[] = {2, 1, 3}, out_at[] = {0, 4, 6}, in_at[] = {1, 4, 6};
  int out[10], in[10];
  MPI_Datatype from, to;
  MPI_Request r;
  MPI_Type_indexed(3, lengths, out_at, MPI_INT, &from);
  MPI_Type_indexed(3, lengths, in_at, MPI_INT, &to);
  MPI_Type_commit(&from);
  MPI_Type_commit(&to);
  for (int i = 0; i < 10; ++i) out[i] = 100 * me + i, in[i] = -1;
  MPI_Isend(out, 1, from, next, 1, WORLD, &r);
  MPI_Recv(in, 1, to, before, 1, WORLD, NO_STATUS);
  MPI_Wait(&r, NO_STATUS);
  for (int b = 0; b < 3; ++b)
    for (int k = 0; k < lengths[b]; ++k) CHECK(in[in_at[b] + k] == 100 * before + out_at[b] + k);
  CHECK(in[0] == -1 && in[3] == -1 && in[5] == -1 && in[9] == -1);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
  END;
}
