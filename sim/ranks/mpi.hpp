// SPDX-License-Identifier: Apache-2.0
// Ranks that an MPI launcher (mpirun, srun) has started.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "sim/ranks/ranks.hpp"

namespace ggas::sim {

// How many there are, by the launcher's word; 0: no launcher started this process.
unsigned launched_ranks();

bool has_mpi();  // this program

// Begins MPI, which ends with the object. A rank that does not answer for `timeout_s` seconds of real time ends the
// whole run with a message and status 1. The error: this program was built without MPI.
std::expected<std::unique_ptr<ranks>, std::string> join_mpi(unsigned timeout_s);

}  // namespace ggas::sim
