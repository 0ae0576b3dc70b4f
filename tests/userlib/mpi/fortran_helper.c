/* SPDX-License-Identifier: Apache-2.0 */
/* What fortran_program.f90 has done in C. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

void c_begin_(double* in, double* out, const MPI_Fint* type, const MPI_Fint* peer, MPI_Fint* requests);
void c_complete_(MPI_Fint* requests);
int c_moved_(void);

void c_begin_(double* in, double* out, const MPI_Fint* type, const MPI_Fint* peer, MPI_Fint* requests) {
  MPI_Request r[2];
  MPI_Irecv(in, 1, MPI_Type_f2c(*type), (int)*peer, 6, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, 1, MPI_Type_f2c(*type), (int)*peer, 6, MPI_COMM_WORLD, &r[1]);
  requests[0] = MPI_Request_c2f(r[0]);
  requests[1] = MPI_Request_c2f(r[1]);
}

void c_complete_(MPI_Fint* requests) {
  MPI_Request r[2] = {MPI_Request_f2c(requests[0]), MPI_Request_f2c(requests[1])};
  MPI_Status statuses[2];  // GCC warns about MPICH's MPI_STATUSES_IGNORE, an array of no elements
  MPI_Waitall(2, r, statuses);
}

int c_moved_(void) {
  uint64_t (*moved)(void);
  *(void**)&moved = dlsym(RTLD_DEFAULT, "ggas_mpi_types_moved");
  return moved && moved() > 0;
}
