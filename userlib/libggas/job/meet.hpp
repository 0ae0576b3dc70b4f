// SPDX-License-Identifier: Apache-2.0
// Which job this process is a part of.
#pragma once

#include <memory>
#include <string>

#include "ggas/ggas.h"
#include "ggas/job.hpp"
#include "userlib/start/blobs.hpp"

namespace ggas::library::start {

// way: "unix", or a module: "tcp", "mpi", "pmix"; null: the value of GGAS_BOOTSTRAP, else "unix". communicator: an
// MPI_Comm* for mpi, or null. With a module ranks find each other, and check whether all are on this computer, unless
// they have NICs. The job's time-out becomes the rest of timeout_ns, and met the module that the transport may use
// later.
ggas_rc find_job(const char* way, const void* communicator, uint64_t timeout_ns, job& j, std::unique_ptr<blobs>& met);

// What processes that share memory have in common, and a name of the computer for people.
struct computer {
  std::string id, name;
};
computer this_computer();

}  // namespace ggas::library::start
