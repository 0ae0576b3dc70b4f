// SPDX-License-Identifier: Apache-2.0
// What MPI has and kernels have not: each call says so and does nothing. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/names.cuh"

#define GGAS_MPI_LEFT_OUT(name, ...) \
  GGAS_DEVICE int name(__VA_ARGS__) { return MPI_ERR_UNSUPPORTED_OPERATION; }

// Partitioned messages.
GGAS_MPI_LEFT_OUT(MPI_Psend_init, const void*, int, int, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*)
GGAS_MPI_LEFT_OUT(MPI_Precv_init, void*, int, int, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request*)
GGAS_MPI_LEFT_OUT(MPI_Pready, int, MPI_Request)
GGAS_MPI_LEFT_OUT(MPI_Parrived, MPI_Request, int, int*)

#undef GGAS_MPI_LEFT_OUT
