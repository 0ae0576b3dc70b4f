// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/host/means.hpp"

namespace ggas::host_bench {

std::vector<std::unique_ptr<means>> make_mpi(size_t) {
  throw failure("--beside-mpi: built without MPI (Debian: libopenmpi-dev)");
}

}  // namespace ggas::host_bench
