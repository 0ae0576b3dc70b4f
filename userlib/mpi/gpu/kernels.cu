// SPDX-License-Identifier: Apache-2.0
// Kernels of the library. They are in it as machine code and PTX, which the driver loads (gpu.cpp).
#include "userlib/mpi/gpu/kernels.cuh"

using namespace ggas::detail;

__device__ static movers whole_grid() { return {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x}; }

// Boxes and lists of equal runs, by units of 1 ... 16 bytes.
#define GGAS_MPI_PLACES(bytes, unit)                                                                                \
  extern "C" __global__ void __launch_bounds__(512) ggas_mpi_places_##bytes(const __grid_constant__ place_move m) { \
    move_places<unit>(m, whole_grid());                                                                             \
  }
GGAS_MPI_PLACES(1, uint8_t)
GGAS_MPI_PLACES(2, uint16_t)
GGAS_MPI_PLACES(4, uint32_t)
GGAS_MPI_PLACES(8, uint64_t)
GGAS_MPI_PLACES(16, word_pair)
#undef GGAS_MPI_PLACES

// Everything else: the walk of records.
extern "C" __global__ void __launch_bounds__(512) ggas_mpi_walk(const __grid_constant__ ggas::mpi::walk_move m) {
  ggas::mpi::walk(m, whole_grid());
}
