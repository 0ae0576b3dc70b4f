/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of ranks: union, intersection, difference, and ranks of one in another. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Group all, low, high, made;
  int first = 0, last = ranks - 1, size, there;
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, 1, &first, &low);
  MPI_Group_excl(all, 1, &first, &high);
  MPI_Group_union(low, high, &made);
  MPI_Group_size(made, &size);
  CHECK(size == ranks);
  MPI_Group_free(&made);
  MPI_Group_intersection(low, high, &made);
  MPI_Group_size(made, &size);
  CHECK(size == 0);
  MPI_Group_translate_ranks(all, 1, &last, high, &there);
  CHECK(there == ranks - 2);
  MPI_Group_translate_ranks(all, 1, &first, high, &there);
  CHECK(there == MPI_UNDEFINED);
  MPI_Group_free(&low), MPI_Group_free(&high), MPI_Group_free(&all);
  END;
}
