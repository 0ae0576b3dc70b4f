// SPDX-License-Identifier: Apache-2.0
// pi as the sum of 4 / (1 + x * x) over the middles of intervals, in floats: each rank sums some, and a program of MPI
// in a kernel, or two kernels, put the sums together. Ranks are the threads of a grid.
#pragma once

#include "benchmarks/kernels/common.cuh"
#define GGAS_MPI_ORIGINAL
#include "ggas/mpi.cuh"

namespace ggas::bench {

struct pi_args {
  uint64_t sums;      // offset of a float of each rank
  uint64_t result;    // offset of a float
  uint64_t outcomes;  // offset of one a thread
  int intervals;      // of a rank
  int ranks;          // of all
};

// The sum over intervals rank, rank + ranks, ...
GGAS_DEVICE float pi_part(int rank, int ranks, int intervals) {
  const float width = 1.0f / (static_cast<float>(ranks) * static_cast<float>(intervals));
  float sum = 0;
  for (int i = rank; i < ranks * intervals; i += ranks) {
    const float x = (static_cast<float>(i) + 0.5f) * width;
    sum += 4.0f / (1.0f + x * x);
  }
  GGAS_COMPUTE(static_cast<uint64_t>(intervals) * 6, 0);
  return sum * width;
}
GGAS_DEVICE void pi_end(const pi_args& a, uint64_t begin, int error) {
  own<outcome>(a.outcomes)[global_thread()] = {begin, time_ns(), 0,
                                               static_cast<uint64_t>(error == MPI_SUCCESS ? ggas_ok : ggas_broken)};
}

// Point to point: rank 0 receives a float of each other one, in their order.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) pi_send(pi_args a) {
  const uint64_t begin = time_ns();
  int error = MPI_Init(nullptr);
  float sum = pi_part(IPROC, NPROC, a.intervals);
  if (IPROC != 0) {
    while (error == MPI_SUCCESS && (error = MPI_Send(&sum, 1, MPI_FLOAT, 0, 1, MPI_COMM_WORLD)) == MPI_ERR_NO_SPACE)
      error = MPI_SUCCESS;
  } else {
    for (int rank = 1; rank < NPROC && error == MPI_SUCCESS; ++rank) {
      float other = 0;
      error = MPI_Recv(&other, 1, MPI_FLOAT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += other;
    }
    *own<float>(a.result) = sum;
  }
  pi_end(a, begin, error);
}
// One reduction.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) pi_reduce(pi_args a) {
  const uint64_t begin = time_ns();
  int error = MPI_Init(nullptr);
  const float sum = pi_part(IPROC, NPROC, a.intervals);
  float all = 0;
  if (error == MPI_SUCCESS) error = MPI_Reduce(&sum, &all, 1, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (IPROC == 0) *own<float>(a.result) = all;
  pi_end(a, begin, error);
}

// ---- two kernels instead, of one GPU

[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) pi_parts(pi_args a) {
  const uint64_t begin = time_ns();
  own<float>(a.sums)[global_thread()] = pi_part(static_cast<int>(global_thread()), a.ranks, a.intervals);
  pi_end(a, begin, MPI_SUCCESS);
}
// By one thread, as the rank that receives does.
[[maybe_unused]] static __global__ void pi_sum_in_order(pi_args a) {
  const uint64_t begin = time_ns();
  float sum = 0;
  for (int rank = 0; rank < a.ranks; ++rank) sum += own<float>(a.sums)[rank];
  *own<float>(a.result) = sum;
  pi_end(a, begin, MPI_SUCCESS);
}

// A tree over the threads of a block; its result is the first thread's.
GGAS_DEVICE float pi_block_sum(float sum) {
  GGAS_SHARED_ARRAY(float, sums, 256);
  const unsigned thread = detail::thread_rank();
  sums[thread] = sum;
  for (unsigned half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half && thread + half < detail::thread_count()) sums[thread] += sums[thread + half];
  }
  return sums[0];
}
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) pi_block_parts(pi_args a) {
  const uint64_t begin = time_ns();
  const float sum = pi_block_sum(pi_part(static_cast<int>(global_thread()), a.ranks, a.intervals));
  if (detail::is_first_thread()) own<float>(a.sums)[detail::block_rank()] = sum;
  pi_end(a, begin, MPI_SUCCESS);
}
// One block for the sums of `blocks` of them.
[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(256) pi_sum_blocks(pi_args a, unsigned blocks) {
  const uint64_t begin = time_ns();
  float mine = 0;
  for (unsigned b = detail::thread_rank(); b < blocks; b += detail::thread_count()) mine += own<float>(a.sums)[b];
  const float sum = pi_block_sum(mine);
  if (detail::is_first_thread()) *own<float>(a.result) = sum;
  pi_end(a, begin, MPI_SUCCESS);
}

}  // namespace ggas::bench
