// SPDX-License-Identifier: Apache-2.0
// The receiver's side of messages on offer.
#pragma once

#include <optional>

#include "userlib/mpi/direct/table.hpp"
#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi::direct {

// What has gone wrong; nothing in `text`: nothing.
struct problem {
  std::string text;
  int error_class = MPI_ERR_OTHER;
};

// The ticket in data that have arrived, `n` bytes in all, if they are one. `first`: the first ticket_bytes of them.
std::optional<ticket> ticket_in(const void* first, uint64_t n);

// Fetches the data of an offered message to their destination, at most as many bytes as the items have; `bytes`: their
// number. `mover`: the mover of the items. The offer has ended in any case.
problem fetch(const ticket& of, const items& to, memory& mover, uint64_t& bytes);

// After a probe: the length of the message instead of that of its ticket.
void correct(MPI_Comm comm, MPI_Status* status);

uint64_t bytes_of(const MPI_Status& status);
void set_bytes(MPI_Status& status, uint64_t bytes);

}  // namespace ggas::mpi::direct
