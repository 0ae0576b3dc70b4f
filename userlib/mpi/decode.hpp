// SPDX-License-Identifier: Apache-2.0
// From a datatype of MPI to one of GGAS.
#pragma once

#include "ggas/type.hpp"
#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi {

// A datatype with MPI's size, bounds and places, which is good(). Else a std::runtime_error says why there is none.
datatype decode(MPI_Datatype type);

// Whether it is one of MPI's own: a primitive, or a pair of them.
bool is_named(MPI_Datatype type);

}  // namespace ggas::mpi
