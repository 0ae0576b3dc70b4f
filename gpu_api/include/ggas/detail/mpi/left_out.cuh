// SPDX-License-Identifier: Apache-2.0
// What MPI has and kernels have not: each call says so and does nothing. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/windows.cuh"

#define GGAS_MPI_LEFT_OUT(name, ...) \
  GGAS_DEVICE int name(__VA_ARGS__) { return MPI_ERR_UNSUPPORTED_OPERATION; }

// Reductions into windows, and access to them without fences.
GGAS_MPI_LEFT_OUT(MPI_Accumulate, const void*, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Op, MPI_Win)
GGAS_MPI_LEFT_OUT(MPI_Win_lock, int, int, int, MPI_Win)
GGAS_MPI_LEFT_OUT(MPI_Win_unlock, int, MPI_Win)

#undef GGAS_MPI_LEFT_OUT
