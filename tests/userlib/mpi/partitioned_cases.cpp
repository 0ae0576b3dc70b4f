// SPDX-License-Identifier: Apache-2.0
// Partitioned requests (MPI 4) of memory of GPUs.
#include <algorithm>

#include "tests/userlib/mpi/gpu_area.hpp"

using namespace mpi_test;

constexpr int n = 40;  // doubles in a column

MPI_CASE(gpu_partitioned, 2) {
  // Parts of a column each, in an order that the program chooses.
  constexpr int parts = 4;
  const typed col = column(n, 2);
  MPI_Datatype next_to_it;
  PMPI_Type_create_resized(col.type, 0, 16 * n, &next_to_it);
  PMPI_Type_commit(&next_to_it);
  bytes content(16 * n * parts, 0);
  gpu_area area(content);
  MPI_Request r;
  const auto init = rank() == 0 ? MPI_Psend_init : reinterpret_cast<decltype(&MPI_Psend_init)>(MPI_Precv_init);
  CHECK(init(area.at(), parts, 1, next_to_it, 1 - rank(), 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r) == MPI_SUCCESS);
  for (int round = 0; round < 3; ++round) {
    const bytes sent = noise(static_cast<uint64_t>(round), content.size());
    CHECK(MPI_Start(&r) == MPI_SUCCESS);
    if (rank() == 0) {
      area.write(sent);
      const int list[] = {3, 1};
      CHECK(MPI_Pready_list(2, const_cast<int*>(list), r) == MPI_SUCCESS);
      if (round == 0) CHECK(MPI_Pready(0, r) == MPI_SUCCESS && MPI_Pready(2, r) == MPI_SUCCESS);
      if (round != 0) CHECK(MPI_Pready_range(0, 0, r) == MPI_SUCCESS && MPI_Pready_range(2, 2, r) == MPI_SUCCESS);
    }
    int there = 0;
    while (rank() == 1 && round == 1 && !there) CHECK(MPI_Parrived(r, 2, &there) == MPI_SUCCESS);
    if (there) CHECK(std::equal(&sent[32 * n], &sent[32 * n] + 8, &area.read()[32 * n]));
    CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    const bytes now = area.read();
    for (size_t i = 0; i < now.size(); ++i) CHECK(now[i] == (rank() == 0 || i % 16 < 8 ? sent[i] : 0));
  }
  CHECK(MPI_Request_free(&r) == MPI_SUCCESS);
  PMPI_Type_free(&next_to_it);
}
