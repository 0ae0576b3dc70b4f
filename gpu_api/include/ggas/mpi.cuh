// SPDX-License-Identifier: Apache-2.0
// MPI inside kernels: ranks are threads, or, with GGAS_MPI_RANK defined as ggas::warp or ggas::block before, those.
// docs/mpi-in-kernels.md says what there is and what differs. The host makes the ranks of MPI_COMM_WORLD by
// ggas::message_space::make() and use(). With GGAS_MPI_ORIGINAL a send without room returns MPI_ERR_NO_SPACE at once,
// and there are IPROC, NPROC and their like. All files of a program define the same. Includes message.cuh.
#pragma once

#include "ggas/message.cuh"

#ifndef GGAS_MPI_RANK
#define GGAS_MPI_RANK ::ggas::thread
#endif
// How long a call waits before it returns MPI_ERR_TIMEOUT.
#ifndef GGAS_MPI_TIMEOUT_NS
#define GGAS_MPI_TIMEOUT_NS 10'000'000'000
#endif

#include "ggas/detail/mpi/names.cuh"
#include "ggas/detail/mpi/world.cuh"

#include "ggas/detail/mpi/type_calls.cuh"

#include "ggas/detail/mpi/point_to_point.cuh"

#include "ggas/detail/mpi/requests.cuh"

#include "ggas/detail/mpi/collectives.cuh"

#include "ggas/detail/mpi/reductions.cuh"

#include "ggas/detail/mpi/vector_forms.cuh"

#include "ggas/detail/mpi/collective_calls.cuh"

#include "ggas/detail/mpi/groups.cuh"

#include "ggas/detail/mpi/windows.cuh"

#include "ggas/detail/mpi/left_out.cuh"
