/* SPDX-License-Identifier: Apache-2.0 */
/* Only the ranks of the group are in it. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Group all, some;
  MPI_Comm made;
  int members[2] = {ranks - 1, 0}, mine;
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, 2, members, &some);
  MPI_Comm_create(WORLD, some, &made);
  CHECK((made == MPI_COMM_NULL) == (me != 0 && me != ranks - 1));
  if (made != MPI_COMM_NULL) {
    MPI_Comm_rank(made, &mine);
    CHECK(mine == (me == 0));
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&all), MPI_Group_free(&some);
  END;
}
