/* SPDX-License-Identifier: Apache-2.0 */
/* A struct of C travels as it is. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  struct item {
    char c;
    double d;
    int i[3];
  } out = {(char)('a' + me % 26), me * 0.25, {me, me + 1, me + 2}}, in;
  const int lengths[] = {1, 1, 3};
  MPI_Aint at[3], start;
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Datatype made, item;
  MPI_Get_address(&out, &start);
  MPI_Get_address(&out.c, at);
  MPI_Get_address(&out.d, at + 1);
  MPI_Get_address(&out.i, at + 2);
  for (int i = 0; i < 3; ++i) at[i] -= start;
  MPI_Type_create_struct(3, lengths, at, types, &made);
  MPI_Type_create_resized(made, 0, sizeof out, &item);
  MPI_Type_commit(&item);
  MPI_Sendrecv(&out, 1, item, next, 1, &in, 1, item, before, 1, WORLD, NO_STATUS);
  CHECK(in.c == (char)('a' + before % 26) && in.d == before * 0.25 && in.i[2] == before + 2);
  MPI_Type_free(&made);
  MPI_Type_free(&item);
  END;
}
