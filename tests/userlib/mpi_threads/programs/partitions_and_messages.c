/* SPDX-License-Identifier: Apache-2.0 */
/* Parts move while their receiver waits for a message that is sent after them. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  enum { N = 40000 };
  int* const v = calloc(N, sizeof *v);
  int word = 0;
  MPI_Request r;
  if (me == 0) {
    for (int i = 0; i < N; ++i) v[i] = i;
    MPI_Psend_init(v, 2, N / 2, MPI_INT, 1, 1, WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Pready_range(0, 1, r);
    MPI_Wait(&r, NO_STATUS);
    MPI_Send(&word, 1, MPI_INT, 1, 2, WORLD);
  } else if (me == 1) {
    MPI_Precv_init(v, 2, N / 2, MPI_INT, 0, 1, WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Recv(&word, 1, MPI_INT, 0, 2, WORLD, NO_STATUS);
    MPI_Wait(&r, NO_STATUS);
    for (int i = 0; i < N; ++i) CHECK(v[i] == i);
  }
  if (me < 2) MPI_Request_free(&r);
  free(v);
  END;
}
