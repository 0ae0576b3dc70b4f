// SPDX-License-Identifier: Apache-2.0
// Ranks that are blocks send, receive and reduce by the names of MPI.
#define GGAS_MPI_RANK ::ggas::block
#include "ggas/mpi.cuh"

__global__ void message(int* data, int n, float* sum) {
  int me, ranks;
  MPI_Status s;
  MPI_Init(static_cast<void*>(nullptr));
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (me % 2 == 0)
    MPI_Send(data, n, MPI_INT, (me + 1) % ranks, 3, MPI_COMM_WORLD);
  else
    MPI_Recv(data, n, MPI_INT, me - 1, 3, MPI_COMM_WORLD, &s);
  const float own = 1.0f / static_cast<float>(me + 1);
  MPI_Allreduce(&own, sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}
