/* SPDX-License-Identifier: Apache-2.0 */
/* No communicator is an error of its class. */
#include "check.h"

int main(int argc, char** argv) {
  PROGRAM;
  int size;
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  CLASS_OF(MPI_Send(&me, 1, MPI_INT, next, 1, MPI_COMM_NULL), MPI_ERR_COMM);
  CLASS_OF(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
  END;
}
