// SPDX-License-Identifier: Apache-2.0
// The layouts of MPI's datatypes, each made once: kept as an attribute of the datatype, and freed with it.
#pragma once

#include <memory>
#include <string>

#include "userlib/mpi/layout.hpp"
#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi {

struct found_layout {
  std::shared_ptr<const layout> made;  // null: there is none, and `why`
  std::string why;
};
// Not of MPI_DATATYPE_NULL. A datatype that was not committed has none. Any thread may call it.
found_layout layout_of(MPI_Datatype type);

// Before MPI is finalised.
void forget_layouts();

}  // namespace ggas::mpi
