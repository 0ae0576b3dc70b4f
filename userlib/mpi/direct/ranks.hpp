// SPDX-License-Identifier: Apache-2.0
// Who the ranks of a communicator are in MPI_COMM_WORLD.
#pragma once

#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi::direct {

// MPI_UNDEFINED: of another job, or none. What is asked of a communicator is kept as its attribute.
int world_rank(MPI_Comm comm, int rank);
// Before MPI is finalised.
void forget_ranks();

}  // namespace ggas::mpi::direct
