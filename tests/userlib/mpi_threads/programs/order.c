/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a pair with the same tag do not overtake each other, whatever their length. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  static const int lengths[] = {1, 5000, 0, 3, 20000, 1};
  int* const v = malloc(20000 * sizeof *v);
  for (int i = 0; i < 12; ++i) {
    const int n = lengths[i % 6];
    if (me == 0) {
      for (int k = 0; k < n; ++k) v[k] = i + k;
      MPI_Send(v, n, MPI_INT, 1, 1, WORLD);
    } else if (me == 1) {
      int got;
      MPI_Status s;
      MPI_Recv(v, 20000, MPI_INT, 0, 1, WORLD, &s);
      MPI_Get_count(&s, MPI_INT, &got);
      CHECK(got == n && (n == 0 || v[n - 1] == i + n - 1));
    }
  }
  free(v);
  END;
}
