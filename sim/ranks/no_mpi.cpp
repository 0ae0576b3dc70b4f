// SPDX-License-Identifier: Apache-2.0
// In place of mpi.cpp where there is no MPI.
#include "sim/ranks/mpi.hpp"

namespace ggas::sim {

bool has_mpi() { return false; }

std::expected<std::unique_ptr<ranks>, std::string> join_mpi(unsigned) {
  return std::unexpected("this program was built without MPI (Debian: libopenmpi-dev openmpi-bin)");
}

}  // namespace ggas::sim
