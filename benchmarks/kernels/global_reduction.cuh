// SPDX-License-Identifier: Apache-2.0
// global_reduction: every GPU sums its array, and one value goes through an allreduce. A job is a number of such
// reductions; each adds its result to a total, so that one that is missing or stale shows.
#pragma once

#include "benchmarks/kernels/block_sum.cuh"
#include "benchmarks/kernels/queue.cuh"
#include "benchmarks/layout_plan.hpp"

namespace ggas::bench {

inline constexpr unsigned reduction_threads = 256;

struct reduction_args {
  uint64_t input;  // offset of `elements` floats; a multiple of 4
  uint64_t elements;
  uint64_t partials;  // offset of a double for each block
  uint64_t sums;      // offset of three: of this GPU, of all, of all so far
  uint64_t words;     // offset of two: blocks that have ended, the first ggas_status that was not ok
  uint64_t seed;
  uint64_t timeout_ns;
};
enum reduction_sum : uint64_t { sum_here, sum_of_all, sum_so_far, reduction_sums };
enum reduction_word : uint64_t { blocks_ended, reduction_status, reduction_words };

// Small whole numbers, so that sums are exact whatever the order.
GGAS_HOST_DEVICE constexpr float reduction_input(uint64_t seed, uint64_t node, uint64_t i) {
  return static_cast<float>(pattern(seed, node, i) % 1024);
}

// Places behind `start`, the same on every node, for arrays of at most so many floats and for at most so many blocks.
inline reduction_args plan_reduction(uint64_t start, uint64_t most_elements, unsigned most_blocks, uint64_t seed,
                                     uint64_t timeout_ns) {
  layout_plan room(start);
  reduction_args a{};
  a.seed = seed;
  a.timeout_ns = timeout_ns;
  a.partials = room.place<double>(most_blocks);
  a.sums = room.place<double>(reduction_sums);
  a.words = room.place<uint64_t>(reduction_words);
  a.input = room.place<float>(most_elements);
  return a;
}

// What a reduction gives.
inline double reduction_result(const reduction_args& a, int nodes) {
  double sum = 0;
  for (int n = 0; n < nodes; ++n)
    for (uint64_t i = 0; i < a.elements; ++i) sum += reduction_input(a.seed, static_cast<uint64_t>(n), i);
  return sum;
}

struct alignas(16) reduction_quad {
  float v[4];
};

// Exact: whole numbers below 2^12.
GGAS_DEVICE double reduction_sum_of(const reduction_quad& q) {
  return static_cast<double>((q.v[0] + q.v[1]) + (q.v[2] + q.v[3]));
}

GGAS_DEVICE double reduction_share(const reduction_args& a) {
  constexpr unsigned at_once = 8;  // loads under way: two blocks on a multiprocessor then keep its memory busy
  const auto* const in = own<reduction_quad>(a.input);
  const uint64_t quads = a.elements / 4, stride = global_threads();
  double sum = 0;
  uint64_t i = global_thread();
  for (; i + (at_once - 1) * stride < quads; i += at_once * stride) {
    reduction_quad q[at_once];
    GGAS_UNROLL for (unsigned k = 0; k < at_once; ++k) q[k] = in[i + k * stride];
    GGAS_UNROLL for (unsigned k = 0; k < at_once; ++k) sum += reduction_sum_of(q[k]);
  }
  for (; i < quads; i += stride) sum += reduction_sum_of(in[i]);
  GGAS_COMPUTE(a.elements / global_threads(), a.elements * sizeof(float) / global_threads());
  return sum;
}

// True in the block that is last to end: it sees what the others stored.
GGAS_DEVICE bool last_block(uint64_t* ended) {
  if (detail::block_count() == 1) return true;
  GGAS_SHARED(unsigned, last);
  __syncthreads();
  if (detail::thread_rank() == 0) {
    ggas_fence_gpu();
    last = (detail::add_gpu(ended, 1) + 1) % detail::block_count() == 0;
    ggas_fence_gpu();
  }
  __syncthreads();
  const bool mine = last != 0;
  __syncthreads();
  return mine;
}

// The sum of this GPU's array, at sum_here; true in the block that stored it.
GGAS_DEVICE bool reduce_here(const reduction_args& a) {
  double* const partials = own<double>(a.partials);
  const double mine = block_sum<reduction_threads / 32>(reduction_share(a));
  if (detail::thread_rank() == 0) ggas_store(partials + detail::block_rank(), mine);
  if (!last_block(own<uint64_t>(a.words) + blocks_ended)) return false;
  double sum = 0;
  for (unsigned b = detail::thread_rank(); b < detail::block_count(); b += detail::thread_count())
    sum += ggas_load(partials + b);
  sum = block_sum<reduction_threads / 32>(sum);
  if (detail::thread_rank() == 0) ggas_store(own<double>(a.sums) + sum_here, sum);
  __syncthreads();
  return true;
}

GGAS_DEVICE void add_to_total(const reduction_args& a) {
  double* const sums = own<double>(a.sums);
  if (detail::thread_rank() == 0)
    ggas_store(sums + sum_so_far, ggas_load(sums + sum_so_far) + ggas_load(sums + sum_of_all));
}

__global__ void reduction_fill(reduction_args a) {
  const auto node = static_cast<uint64_t>(ggas_node());
  for (uint64_t i = global_thread(); i < a.elements; i += global_threads())
    own<float>(a.input)[i] = reduction_input(a.seed, node, i);
  for (uint64_t i = global_thread(); i < reduction_sums; i += global_threads()) own<double>(a.sums)[i] = 0;
  for (uint64_t i = global_thread(); i < reduction_words; i += global_threads()) own<uint64_t>(a.words)[i] = 0;
}

// The whole reduction: the last block to end has the sum and does the allreduce.
__global__ void reduction_in_kernel(reduction_args a) {
  ggas_after_stream();
  if (!reduce_here(a)) return;
  double* const sums = own<double>(a.sums);
  const ggas_status s = ggas_allreduce_block(sums + sum_of_all, sums + sum_here, 1, ggas_sum, ggas_auto, a.timeout_ns);
  __syncthreads();
  if (s == ggas_ok) {
    add_to_total(a);
  } else if (detail::thread_rank() == 0) {
    ggas_store(own<uint64_t>(a.words) + reduction_status, static_cast<uint64_t>(s));
  }
}

// The parts of it for a stream, around allreduce_on_stream.
__global__ void reduction_here(reduction_args a) {
  ggas_after_stream();
  reduce_here(a);
}
__global__ void reduction_total(reduction_args a) {
  ggas_after_stream();
  add_to_total(a);
}

// Queues one reduction of a node: in one kernel, or in parts.
template <class Target>
launched queue_reduction(Target& target, int node, unsigned blocks, const reduction_args& a, bool in_kernel) {
  if (in_kernel) return launch_dependent(target, node, blocks, reduction_threads, reduction_in_kernel, a);
  char* const mine = target.device_context(node).local;
  auto* const sums = reinterpret_cast<double*>(mine + a.sums);
  auto* const status = reinterpret_cast<uint64_t*>(mine + a.words) + reduction_status;
  GGAS_QUEUE(launch_dependent(target, node, blocks, reduction_threads, reduction_here, a));
  GGAS_QUEUE(
      allreduce_on_stream(target, node, sums + sum_of_all, sums + sum_here, 1, ggas_sum, {a.timeout_ns, status}));
  return launch_dependent(target, node, 1, 32, reduction_total, a);
}

}  // namespace ggas::bench
