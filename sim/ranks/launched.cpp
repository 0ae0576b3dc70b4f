// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "sim/ranks/mpi.hpp"

namespace ggas::sim {

unsigned launched_ranks() {
  const char* const count = std::getenv("OMPI_COMM_WORLD_SIZE");
  return count ? unsigned(std::strtoul(count, nullptr, 10)) : 0;
}

}  // namespace ggas::sim
