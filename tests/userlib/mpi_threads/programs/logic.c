/* SPDX-License-Identifier: Apache-2.0 */
/* Logical operations, and those of bits. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int v = me == 0 ? 0 : 2 * me, all, one, odd;
  MPI_Allreduce(&v, &all, 1, MPI_INT, MPI_LAND, WORLD);
  MPI_Allreduce(&v, &one, 1, MPI_INT, MPI_LOR, WORLD);
  MPI_Allreduce(&v, &odd, 1, MPI_INT, MPI_LXOR, WORLD);
  CHECK(all == 0 && one == 1 && odd == (ranks - 1) % 2);
  unsigned bits = 1u << me % 31, both, any, differ, expected = 0;
  for (int i = 0; i < ranks; ++i) expected ^= 1u << i % 31;
  MPI_Allreduce(&bits, &both, 1, MPI_UNSIGNED, MPI_BAND, WORLD);
  MPI_Allreduce(&bits, &any, 1, MPI_UNSIGNED, MPI_BOR, WORLD);
  MPI_Allreduce(&bits, &differ, 1, MPI_UNSIGNED, MPI_BXOR, WORLD);
  CHECK(both == 0 && (any & bits) == bits && differ == expected);
  END;
}
