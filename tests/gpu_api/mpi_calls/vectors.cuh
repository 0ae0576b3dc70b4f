// SPDX-License-Identifier: Apache-2.0
// Collectives with parts of any length.
#pragma once

#include "tests/gpu_api/mpi_calls/rank.cuh"

namespace ggas::calls {

class mpi_vectors : public mpi_rank {
 public:
  GGAS_DEVICE explicit mpi_vectors(const mpi_rank& r) : mpi_rank(r) {}

  // Rank r has r % 3 + 1 numbers, which lie one apart; of each for another one, (from + to) % 3.
  GGAS_DEVICE void vectors() {
    auto *const from = reinterpret_cast<int*>(own_ + 128), *const to = from + 3 * ranks_,
                *const counts = to + 4 * ranks_, *const places = counts + ranks_, *const to_counts = places + ranks_,
                *const to_places = to_counts + ranks_;
    const auto part = [](int rank) { return rank % 3 + 1; };
    const auto begin = [&] {
      g_.sync();
      for (int i = static_cast<int>(g_.rank()); i < 4 * ranks_; i += static_cast<int>(g_.size())) to[i] = -1;
      for (int i = 0; i < 3 * ranks_ && g_.leads(); ++i) from[i] = 1000 * me_ + i;
      for (int r = 0; r < ranks_ && g_.leads(); ++r) counts[r] = part(r), places[r] = 4 * r;
      g_.sync();
    };
    const auto gathered = [&] {
      bool good = true;
      for (int r = 0; r < ranks_; ++r)
        for (int i = 0; i < 4; ++i) good &= to[4 * r + i] == (i < part(r) ? 1000 * r + i : -1);
      return good;
    };
    const int root = ranks_ - 1;
    begin();
    ok(MPI_Gatherv(from, part(me_), MPI_INT, to, counts, places, MPI_INT, root, MPI_COMM_WORLD), __LINE__);
    f_.want(me_ != root || gathered(), __LINE__);
    begin();
    ok(MPI_Allgatherv(from, part(me_), MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD), __LINE__);
    f_.want(gathered(), __LINE__);
    begin();
    if (g_.leads())
      for (int r = 0; r < ranks_; ++r) places[r] = 2 * r;
    g_.sync();
    ok(MPI_Scatterv(from, counts, places, MPI_INT, to, part(me_), MPI_INT, root, MPI_COMM_WORLD), __LINE__);
    bool good = true;
    for (int i = 0; i < 4; ++i) good &= to[i] == (i < part(me_) ? 1000 * root + 2 * me_ + i : -1);
    f_.want(good, __LINE__);
    begin();
    if (g_.leads())
      for (int r = 0; r < ranks_; ++r)
        counts[r] = to_counts[r] = (me_ + r) % 3, places[r] = 2 * r, to_places[r] = 3 * r;
    g_.sync();
    ok(MPI_Alltoallv(from, counts, places, MPI_INT, to, to_counts, to_places, MPI_INT, MPI_COMM_WORLD), __LINE__);
    for (int r = 0; r < ranks_; ++r)
      for (int i = 0; i < 3; ++i) good &= to[3 * r + i] == (i < (me_ + r) % 3 ? 1000 * r + 2 * me_ + i : -1);
    f_.want(good, __LINE__);
    g_.sync();
    if (g_.leads()) counts[0] = -1;
    g_.sync();
    is(MPI_Allgatherv(from, 1, MPI_INT, to, counts, places, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT, __LINE__);
    g_.sync();
  }
};

}  // namespace ggas::calls
