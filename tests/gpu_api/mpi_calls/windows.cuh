// SPDX-License-Identifier: Apache-2.0
// Windows in the segment, in other memory of the node and in shared memory.
#pragma once

#include "tests/gpu_api/mpi_calls/rank.cuh"

namespace ggas::calls {

class mpi_windows : public mpi_rank {
 public:
  GGAS_DEVICE explicit mpi_windows(const mpi_rank& r) : mpi_rank(r) {}

  GGAS_DEVICE void windows() {
    auto* const v = reinterpret_cast<int*>(own_ + 128);
    MPI_Win win;
    g_.sync();
    for (int i = 0; i < ranks_ && g_.leads(); ++i) v[i] = -1;
    if (g_.leads()) v[ranks_] = me_;
    ok(MPI_Win_create(v, 4 * ranks_, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    for (int r = 0; r < ranks_; ++r) ok(MPI_Put(v + ranks_, 1, MPI_INT, r, me_, 1, MPI_INT, win), __LINE__);
    is(MPI_Put(v, 1, MPI_INT, 0, ranks_, 1, MPI_INT, win), MPI_ERR_DISP, __LINE__);
    is(MPI_Put(v, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP, __LINE__);
    is(MPI_Put(v, 1, MPI_INT, ranks_, 0, 1, MPI_INT, win), MPI_ERR_RANK, __LINE__);
    is(MPI_Put(v, 1, MPI_INT, 0, 0, 1, MPI_INT, {9}), MPI_ERR_WIN, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    bool good = true;
    for (int i = 0; i < ranks_; ++i) good &= ggas_load(v + i) == i;
    f_.want(good, __LINE__);
    ok(MPI_Get(v + ranks_ + 1, 1, MPI_INT, other_, me_, 1, MPI_INT, win), __LINE__);
    f_.want(v[ranks_ + 1] == me_, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
    f_.want(win == MPI_WIN_NULL, __LINE__);
    is(MPI_Win_fence(0, win), MPI_ERR_WIN, __LINE__);
    shared_window();
    window_of_node();
    is(MPI_Accumulate(v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_UNSUPPORTED_OPERATION, __LINE__);
  }
  // Memory that is not in the segment is reached within the node; a rank's variable is refused, and a part of the
  // ranks.
  GGAS_DEVICE void window_of_node() {
    int* const cell = mpi::new_memory<int>(2);
    int variable = 0;
    MPI_Win win;
    MPI_Comm part;
    g_.sync();
    if (g_.leads()) cell[0] = -1, cell[1] = me_;
    is(MPI_Win_create(&variable, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BUFFER, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
    ok(MPI_Comm_split(MPI_COMM_WORLD, me_, 0, &part), __LINE__);
    is(MPI_Win_create(cell, 4, 4, MPI_INFO_NULL, part, &win), MPI_ERR_COMM, __LINE__);
    ok(MPI_Comm_free(&part), __LINE__);
    ok(MPI_Win_create(cell, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    const int of_node = detail::ranks_of_node(mpi::world());
    const bool near = me_ / of_node == other_ / of_node;
    is(MPI_Put(cell + 1, 1, MPI_INT, other_, 0, 1, MPI_INT, win), near ? MPI_SUCCESS : MPI_ERR_DISP, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    f_.want(cell[0] == (near ? other_ : -1), __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
    mpi::free_memory(cell);
  }
  GGAS_DEVICE void shared_window() {
    GGAS_SHARED_ARRAY(int, cells, 1024);
    int* const mine = cells + detail::index_of_caller(mpi::world()) % detail::ranks_of_block(mpi::world());
    MPI_Win win;
    ok(MPI_Win_create(mine, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win), __LINE__);
    const bool near = me_ / static_cast<int>(detail::ranks_of_block(mpi::world())) ==
                      other_ / static_cast<int>(detail::ranks_of_block(mpi::world()));
    auto* const v = reinterpret_cast<int*>(own_);
    g_.sync();
    if (g_.leads()) v[0] = me_;
    is(MPI_Put(v, 1, MPI_INT, other_, 0, 1, MPI_INT, win), near ? MPI_SUCCESS : MPI_ERR_DISP, __LINE__);
    ok(MPI_Win_fence(0, win), __LINE__);
    f_.want(!near || *mine == other_, __LINE__);
    ok(MPI_Win_free(&win), __LINE__);
  }
};

}  // namespace ggas::calls
