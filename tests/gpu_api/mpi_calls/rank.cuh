// SPDX-License-Identifier: Apache-2.0
// The rank that makes the calls of MPI which the other files of this folder compare with the standard.
#pragma once

#include "ggas/mpi.cuh"
#include "tests/gpu_api/calls_found.cuh"

namespace ggas::calls {

struct mpi_args {
  ggas_messages world;
  uint64_t scratch;  // offset of scratch_bytes of each rank of a node
  uint64_t outcomes;
  uint64_t scratch_bytes;
  uint64_t seed;
  int most;  // elements of a rank in a collective
};

class mpi_rank {
 public:
  using G = mpi::rank_group;
  GGAS_DEVICE mpi_rank(const mpi_args& a, found& f) : a_(a), f_(f) {
    ok(MPI_Init(static_cast<void*>(nullptr)), __LINE__);
    ok(MPI_Comm_rank(MPI_COMM_WORLD, &me_), __LINE__);
    ok(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), __LINE__);
    const auto index = static_cast<uint64_t>(me_ % detail::ranks_of_node(mpi::world()));
    own_ = bench::own<char>(a.scratch + index * a.scratch_bytes);
    other_ = me_ ^ 1;
  }

  GGAS_DEVICE void finalize() { ok(MPI_Finalize(), __LINE__); }
  GGAS_DEVICE bool all_good() const { return f_.all_good(); }

 protected:
  GGAS_DEVICE void is(int got, int wanted, int line) {
    f_.status(static_cast<ggas_status>(got), static_cast<ggas_status>(wanted), line);
  }
  GGAS_DEVICE void ok(int got, int line) { is(got, MPI_SUCCESS, line); }

  const mpi_args& a_;
  found& f_;
  const G g_{};
  int me_ = 0, ranks_ = 0, other_ = 0;
  char* own_ = nullptr;
};

}  // namespace ggas::calls
