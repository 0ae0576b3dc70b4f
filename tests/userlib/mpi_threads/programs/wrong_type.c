/* SPDX-License-Identifier: Apache-2.0 */
/* No datatype is an error of its class. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  CLASS_OF(MPI_Send(&me, 1, MPI_DATATYPE_NULL, next, 1, WORLD), MPI_ERR_TYPE);
  END;
}
