/* SPDX-License-Identifier: Apache-2.0 */
/* Size, extent and bounds of types that have gaps. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int size;
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Datatype pairs, wide;
  MPI_Type_vector(3, 1, 2, MPI_INT, &pairs);
  MPI_Type_create_resized(pairs, -4, 32, &wide);
  MPI_Type_size(wide, &size);
  MPI_Type_get_extent(wide, &lower, &extent);
  MPI_Type_get_true_extent(wide, &true_lower, &true_extent);
  CHECK(size == 12 && lower == -4 && extent == 32 && true_lower == 0 && true_extent == 20);
  MPI_Type_free(&pairs);
  MPI_Type_free(&wide);
  END;
}
