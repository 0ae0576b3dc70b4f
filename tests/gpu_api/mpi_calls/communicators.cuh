// SPDX-License-Identifier: Apache-2.0
// Groups and communicators.
#pragma once

#include "tests/gpu_api/mpi_calls/rank.cuh"

#define MPI_TEST_DEVICE GGAS_DEVICE
#define TOGETHER ::ggas::mpi::rank_group{}.sync()
#include "tests/gpu_api/mpi_communicators.h"

namespace ggas::calls {

class mpi_communicator_calls : public mpi_rank {
 public:
  GGAS_DEVICE explicit mpi_communicator_calls(const mpi_rank& r) : mpi_rank(r) {}

  GGAS_DEVICE void communicators() {
    auto* const own = reinterpret_cast<int*>(own_);
    is(comm_split(me_, ranks_, own), 0, __LINE__);
    if (all_good()) is(comm_groups(me_, ranks_, own), 0, __LINE__);
    if (all_good()) is(comm_lists(me_, ranks_, own), 0, __LINE__);
  }

  // The root of broadcasts is at most one barrier ahead of a rank that is slow.
  GGAS_DEVICE void runs_ahead() {
    MPI_Comm all;
    MPI_Status s;
    auto* const own = reinterpret_cast<int*>(own_);
    const int last = ranks_ - 1, of_node = detail::ranks_of_node(mpi::world());
    const uint64_t at = a_.scratch + static_cast<uint64_t>(last % of_node) * a_.scratch_bytes;
    const int* const slow = ggas_pointer_of_node<int>(last / of_node, at);
    g_.sync();
    if (g_.leads()) ggas_store(own, 0);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &all), __LINE__);
    for (int k = 1; k <= 40; ++k) {
      int flag = 0;
      for (int i = 0; i < 50 && me_ == last; ++i)
        ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s), __LINE__);
      ok(MPI_Bcast(own + 4, 1, MPI_INT, 0, all), __LINE__);
      if (g_.leads()) ggas_store(own, k);
      f_.want(me_ != 0 || k - ggas_load(slow) <= mpi::open_at_once + 1, __LINE__);
    }
    ok(MPI_Barrier(all), __LINE__);
    ok(MPI_Comm_free(&all), __LINE__);
  }
};

}  // namespace ggas::calls
