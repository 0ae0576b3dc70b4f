/* SPDX-License-Identifier: Apache-2.0 */
/* A negative count is an error of its class. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  CLASS_OF(MPI_Send(&me, -1, MPI_INT, next, 1, WORLD), MPI_ERR_COUNT);
  CLASS_OF(MPI_Recv(&me, -1, MPI_INT, before, 1, WORLD, NO_STATUS), MPI_ERR_COUNT);
  END;
}
