// SPDX-License-Identifier: Apache-2.0
// Which job this process is a part of.
#pragma once

#include <memory>
#include <string>

#include "ggas/ggas.h"
#include "ggas/job.hpp"
#include "userlib/start/blobs.hpp"

namespace ggas::library::start {

// way: "unix", or a module: "tcp", "mpi", "pmix"; null: what GGAS_BOOTSTRAP says, else "unix". communicator: an
// MPI_Comm* for mpi, or null. By a module ranks find each other, and find out whether all are on this computer, unless
// they have NICs; the job's time-out is what that has left of timeout_ns, and met what the transport may use on.
ggas_rc find_job(const char* way, const void* communicator, uint64_t timeout_ns, job& j, std::unique_ptr<blobs>& met);

// What processes that share memory have in common, and a name of the computer for people.
struct computer {
  std::string id, name;
};
computer this_computer();

}  // namespace ggas::library::start
