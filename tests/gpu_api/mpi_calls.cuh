// SPDX-License-Identifier: Apache-2.0
// MPI in kernels: each function compared with the MPI standard, for the kind of rank that GGAS_MPI_RANK names. One
// source for the host engine, the simulator and GPUs.
#pragma once

#include "tests/gpu_api/mpi_calls/collectives.cuh"
#include "tests/gpu_api/mpi_calls/communicators.cuh"
#include "tests/gpu_api/mpi_calls/messages.cuh"
#include "tests/gpu_api/mpi_calls/partitions.cuh"
#include "tests/gpu_api/mpi_calls/vectors.cuh"
#include "tests/gpu_api/mpi_calls/windows.cuh"

namespace ggas::calls {

constexpr uint64_t mpi_scratch(uint64_t ranks, uint64_t most) {
  return (256 + 2 * ranks * (most < 3 ? 3 : most) * 8 + COMM_TEST_NUMBERS(0) * 4 + 63) / 64 * 64;
}

__global__ void mpi_calls(mpi_args a) {
  found f;
  mpi_rank r(a, f);
  mpi_messages messages(r);
  if (r.all_good()) messages.messages();
  if (r.all_good()) messages.requests();
  if (r.all_good()) messages.arguments();
  if (r.all_good()) messages.packed();
  if (r.all_good()) mpi_windows(r).windows();
  if (r.all_good()) mpi_partitions(r).partitions();
  if (r.all_good()) messages.looks();
  if (r.all_good()) mpi_vectors(r).vectors();
  r.finalize();
  f.write(a.outcomes);
}
__global__ void mpi_communicators(mpi_args a) {
  found f;
  mpi_rank r(a, f);
  mpi_communicator_calls calls(r);
  if (r.all_good()) calls.communicators();
  if (r.all_good()) calls.runs_ahead();
  r.finalize();
  f.write(a.outcomes);
}
__global__ void mpi_collectives(mpi_args a) {
  found f;
  mpi_rank r(a, f);
  mpi_collective_calls calls(r);
  if (r.all_good()) calls.collectives<int>(MPI_INT, a.seed * 7);
  if (r.all_good()) calls.collectives<double>(MPI_DOUBLE, a.seed * 131);
  if (r.all_good()) calls.collectives<uint8_t>(MPI_UNSIGNED_CHAR, a.seed * 523 + 4);
  f.write(a.outcomes);
}

}  // namespace ggas::calls
