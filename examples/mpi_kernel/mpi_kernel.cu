// SPDX-License-Identifier: Apache-2.0
// pi as the sum of 4 / (1 + x * x), by two MPI programs in the manner of Young (2009), whose names GGAS_MPI_ORIGINAL
// brings: IPROC and NPROC are rank and number of ranks. A rank is a thread.
#define GGAS_MPI_ORIGINAL
#include "mpi_kernel.hpp"

#include "ggas/launch.hpp"
#include "ggas/mpi.cuh"

static __device__ float partial_sum() {
  const float width = 1.0f / (static_cast<float>(NPROC) * intervals);
  float lsum = 0.0f;
  for (int i = IPROC; i < NPROC * intervals; i += NPROC) {
    const float x = (static_cast<float>(i) + 0.5f) * width;
    lsum += 4.0f / (1.0f + x * x);
  }
  return lsum * width;
}

// All send, then rank 0 receives. A send does not wait: the host made rings in which a message of every rank has room.
static __global__ void sum_by_messages(uint64_t sum) {
  MPI_Init((void*)0);
  float lsum = partial_sum();
  MPI_Status status;
  if (IPROC != 0) {
    MPI_Send((void*)&lsum, 1, MPI_FLOAT, 0, 1, MPI_COMM_WORLD);
  }
  if (IPROC == 0) {
    for (int i = 1; i < NPROC; ++i) {
      float other;
      MPI_Recv((void*)&other, 1, MPI_FLOAT, i, 1, MPI_COMM_WORLD, &status);
      lsum += other;
    }
    *ggas_pointer_of_node<float>(0, sum) = lsum;
  }
  MPI_Finalize();
}
GGAS_DEFINE_KERNEL(pi_point_to_point, sum_by_messages);

// The root says so itself, the others name it.
static __global__ void sum_by_reduction(uint64_t sum) {
  MPI_Init((void*)0);
  float lsum = partial_sum(), all;
  MPI_Reduce(&lsum, &all, 1, MPI_FLOAT, MPI_SUM, IPROC == 0 ? MPI_ROOT : 0, MPI_COMM_WORLD);
  if (IPROC == 0) *ggas_pointer_of_node<float>(0, sum) = all;
  MPI_Finalize();
}
GGAS_DEFINE_KERNEL(pi_collective, sum_by_reduction);
