/* SPDX-License-Identifier: Apache-2.0 */
/* The count of what came may be less than the buffer, and is undefined for part of an element. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  char v[12] = {0};
  if (me == 0) MPI_Send(v, 6, MPI_BYTE, 1, 1, WORLD);
  if (me == 1) {
    int bytes, ints;
    MPI_Status s;
    MPI_Recv(v, 12, MPI_BYTE, 0, 1, WORLD, &s);
    MPI_Get_count(&s, MPI_BYTE, &bytes);
    MPI_Get_count(&s, MPI_INT, &ints);
    CHECK(bytes == 6 && ints == MPI_UNDEFINED);
  }
  END;
}
