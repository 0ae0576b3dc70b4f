// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/direct/ranks.hpp"

#include <mutex>
#include <numeric>
#include <vector>

namespace ggas::mpi::direct {

namespace {

using ranks = std::vector<int>;

std::mutex lock;
int key = MPI_KEYVAL_INVALID;

int drop(MPI_Comm, int, void* value, void*) {
  delete static_cast<ranks*>(value);
  return MPI_SUCCESS;
}

// In an intercommunicator the peers are the ranks of the other group.
ranks* translate(MPI_Comm comm) {
  MPI_Group theirs, world;
  int inter = 0, n = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_group(comm, &theirs) : PMPI_Comm_group(comm, &theirs);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_size(theirs, &n);
  ranks from(static_cast<size_t>(n));
  std::iota(from.begin(), from.end(), 0);
  auto* const all = new ranks(from.size());
  PMPI_Group_translate_ranks(theirs, n, from.data(), world, all->data());
  PMPI_Group_free(&theirs);
  PMPI_Group_free(&world);
  return all;
}

}  // namespace

int world_rank(MPI_Comm comm, int rank) {
  if (comm == MPI_COMM_NULL || rank < 0) return MPI_UNDEFINED;
  const std::lock_guard one_at_a_time(lock);
  if (key == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, nullptr);
  void* value = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, key, &value, &there);
  if (!there) PMPI_Comm_set_attr(comm, key, value = translate(comm));
  const ranks& all = *static_cast<ranks*>(value);
  return static_cast<size_t>(rank) < all.size() ? all[static_cast<size_t>(rank)] : MPI_UNDEFINED;
}

void forget_ranks() {
  if (key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&key);
}

}  // namespace ggas::mpi::direct
