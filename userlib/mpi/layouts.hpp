// SPDX-License-Identifier: Apache-2.0
// The layouts of MPI's datatypes, each made at its first message that this library moves: kept as an attribute of the
// datatype, and freed with it.
#pragma once

#include <memory>
#include <string>

#include "userlib/mpi/layout/layout.hpp"
#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi {

struct found_layout {
  std::shared_ptr<const layout> made;  // null: there is none, and `why`
  std::string why;
  int error = MPI_SUCCESS;  // of the MPI below, which has called the handler of the communicator
};
// Not of MPI_DATATYPE_NULL. `comm`: of the message. A datatype that was not committed has none: MPI has no query for
// that, so an item is sent to MPI_PROC_NULL. MPI_COMM_NULL: not checked, since the MPI below gets the datatype itself.
// Any thread may call it.
found_layout layout_of(MPI_Datatype type, MPI_Comm comm);

// That of this thread's last datatype with a layout, if it is this one, and was committed; null: it has to be looked
// up.
const layout* last_layout(MPI_Datatype type);

// Before MPI is finalised.
void forget_layouts();

}  // namespace ggas::mpi
