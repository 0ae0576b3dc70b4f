// SPDX-License-Identifier: Apache-2.0
// Where the driver gives no handles of its memory messages go through the host.
#include <dlfcn.h>

#include <algorithm>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

MPI_CASE(not_direct, 2) {
  const bytes content = noise(static_cast<uint64_t>(rank()), 60000),
              theirs = noise(static_cast<uint64_t>(1 - rank()), 60000);
  gpu_area area(content), got(bytes(content.size()));
  const typed col = column(2000, 3);
  for (int i = 0; i < 5; ++i) {
    PMPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_Sendrecv(area.at(), 1, col.type, 1 - rank(), i, got.at(), 1, col.type, 1 - rank(), i, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE) == 0);
  }
  const bytes now = got.read();
  for (size_t i = 0; i < 2000; ++i) CHECK(std::equal(&now[24 * i], &now[24 * i] + 8, &theirs[24 * i]));
  for (const char* const name : {"ggas_mpi_types_straight", "ggas_mpi_types_from_packed"}) {
    const auto f = reinterpret_cast<uint64_t (*)()>(dlsym(RTLD_DEFAULT, name));
    CHECK(f && f() == 0);
  }
}
