/* SPDX-License-Identifier: Apache-2.0 */
/* A root that does not exist is an error of its class. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  CLASS_OF(MPI_Bcast(&me, 1, MPI_INT, ranks, WORLD), MPI_ERR_ROOT);
  END;
}
