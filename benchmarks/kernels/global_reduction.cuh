// SPDX-License-Identifier: Apache-2.0
// global_reduction: every GPU sums its array, and one value goes through an allreduce. A job is a sequence of such
// reductions; each adds its result to a total, so that a missing or stale one is detected.
#pragma once

#include "benchmarks/kernels/block_sum.cuh"
#include "benchmarks/kernels/layout_plan.hpp"
#include "benchmarks/kernels/queue.cuh"

namespace ggas::bench {

inline constexpr unsigned reduction_threads = 256;
// Limits registers so that this number of blocks fits on a multiprocessor. If two are launched, room is left for four:
// then blocks of the next kernel fit next to those that still run. With less room some multiprocessors would get two of
// the next blocks and others none (64 Mi floats: 85 us instead of 66).
#ifdef __CUDACC__
#define GGAS_REDUCTION_BOUNDS(blocks) __launch_bounds__(reduction_threads, blocks)
#else
#define GGAS_REDUCTION_BOUNDS(blocks)
#endif

struct reduction_args {
  uint64_t input;  // offset of `elements` floats; a multiple of 4
  uint64_t elements;
  uint64_t partials;  // offset of a pair of words for each block, and one more
  uint64_t sums;      // offset of three: of this GPU, of all, of all so far
  uint64_t words;     // offset of reduction_words
  uint64_t seed;
  uint64_t timeout_ns;
};
enum reduction_sum : uint64_t { sum_here, sum_of_all, sum_so_far, reduction_sums };
// How many reductions have ended, the first ggas_status that was not ok.
enum reduction_word : uint64_t { reductions_done, reduction_status, reduction_words };

enum class reduction_way {
  in_kernel,  // a kernel for each reduction, whose last block does the allreduce
  stream,     // the allreduce is a kernel of its own
  device,     // one kernel for all reductions
};
inline constexpr reduction_way all_reduction_ways[] = {reduction_way::in_kernel, reduction_way::stream,
                                                       reduction_way::device};
constexpr const char* name_of(reduction_way w) {
  constexpr const char* names[] = {"in_kernel", "stream", "device"};
  return names[static_cast<int>(w)];
}

// Small whole numbers, so that sums are exact whatever the order.
GGAS_HOST_DEVICE constexpr float reduction_input(uint64_t seed, uint64_t node, uint64_t i) {
  return static_cast<float>(pattern(seed, node, i) % 1024);
}

// Places after `start`, the same on every node, for arrays of at most so many floats and for at most so many blocks.
inline reduction_args plan_reduction(uint64_t start, uint64_t most_elements, unsigned most_blocks, uint64_t seed,
                                     uint64_t timeout_ns) {
  layout_plan room(start);
  reduction_args a{};
  a.seed = seed;
  a.timeout_ns = timeout_ns;
  a.partials = room.place<detail::word_pair>(most_blocks + 1);
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

// The last block gets the sums of all blocks of the grid and continues with them. It is the last one so that the others
// have begun when it waits for them.
GGAS_DEVICE bool collects() { return detail::block_rank() + 1 == detail::block_count(); }

GGAS_DEVICE void tell_sum(detail::word_pair* line, double mine, uint64_t number) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &mine, sizeof bits);
  ggas_store(line, detail::word_pair{(number << 32) | (bits & 0xffffffffu), (number << 32) | (bits >> 32)});
}
// Half a sum lies next to the low bits of the reduction's number in each word: who finds them has the half.
GGAS_DEVICE bool take_sum(const detail::word_pair* line, uint64_t number, double& sum) {
  const detail::word_pair w = detail::load_spin(line);
  if (w.lo >> 32 != (number & 0xffffffffu) || w.hi >> 32 != (number & 0xffffffffu)) return false;
  const uint64_t bits = (w.hi << 32) | (w.lo & 0xffffffffu);
  __builtin_memcpy(&sum, &bits, sizeof sum);
  return true;
}

GGAS_DEVICE ggas_status wait_for_sum(const detail::word_pair* line, uint64_t number, double& sum, uint64_t timeout_ns) {
  detail::poll_deadline time(timeout_ns);
  while (!take_sum(line, number, sum))
    if (time.over()) return ggas_timed_out;
  return ggas_ok;
}

// Sums the array of this GPU as reduction `number`; the collecting block stores the sum at sum_here. All threads of
// that block get the status; the status of the others is not used.
GGAS_DEVICE ggas_status reduce_here(const reduction_args& a, uint64_t number) {
  auto* const lines = own<detail::word_pair>(a.partials);
  double sum = block_sum<reduction_threads / 32>(reduction_share(a));
  if (!collects()) {
    if (detail::thread_rank() == 0) tell_sum(lines + detail::block_rank(), sum, number);
    return ggas_ok;
  }
  ggas_status s = ggas_ok;
  if (detail::block_count() > 1) {
    if (detail::thread_rank() != 0) sum = 0;
    for (unsigned b = detail::thread_rank(); b + 1 < detail::block_count() && s == ggas_ok; b += reduction_threads) {
      double of_block = 0;
      s = wait_for_sum(lines + b, number, of_block, a.timeout_ns);
      sum += of_block;
    }
    sum = block_sum<reduction_threads / 32>(sum);
    s = detail::block_status(s);
  }
  if (detail::thread_rank() == 0) ggas_store(own<double>(a.sums) + sum_here, sum);
  __syncthreads();
  return s;
}

// The first failure stays.
GGAS_DEVICE void tell_status(const reduction_args& a, ggas_status s) {
  uint64_t* const word = own<uint64_t>(a.words) + reduction_status;
  if (s != ggas_ok && ggas_load(word) == ggas_ok) ggas_store(word, static_cast<uint64_t>(s));
}

// What has ended, by the first thread of the block that collects.
GGAS_DEVICE void end_reduction(const reduction_args& a, uint64_t number, ggas_status s, double so_far) {
  tell_status(a, s);
  if (s == ggas_ok) ggas_store(own<double>(a.sums) + sum_so_far, so_far);
  ggas_store(own<uint64_t>(a.words) + reductions_done, number);
}

// Where all blocks of `device` get the sum of all, as whatever goes on with it would; no number if it failed.
GGAS_DEVICE detail::word_pair* shared_line(const reduction_args& a) {
  return own<detail::word_pair>(a.partials) + detail::block_count();
}

// The allreduce and the end of a reduction, by the block that collects.
GGAS_DEVICE ggas_status reduce_over_all(const reduction_args& a, uint64_t number, ggas_status s, bool share) {
  double* const sums = own<double>(a.sums);
  const double before = detail::thread_rank() == 0 ? ggas_load(sums + sum_so_far) : 0;
  if (s == ggas_ok) s = ggas_allreduce_block(sums + sum_of_all, sums + sum_here, 1, ggas_sum, ggas_auto, a.timeout_ns);
  __syncthreads();
  if (detail::thread_rank() != 0) return s;
  const double sum = s == ggas_ok ? ggas_load(sums + sum_of_all) : __builtin_nan("");
  if (share) tell_sum(shared_line(a), sum, number);
  end_reduction(a, number, s, before + sum);
  return s;
}

// The other blocks of `device`.
GGAS_DEVICE ggas_status hear_sum(const reduction_args& a, uint64_t number) {
  ggas_status s = ggas_ok;
  double sum = 0;
  if (detail::thread_rank() == 0) s = wait_for_sum(shared_line(a), number, sum, a.timeout_ns);
  return __syncthreads_or(s != ggas_ok || sum != sum) ? ggas_peer_error : ggas_ok;
}

GGAS_DEVICE uint64_t next_reduction(const reduction_args& a) {
  return ggas_load(own<uint64_t>(a.words) + reductions_done) + 1;
}

// New totals; numbers of reductions go on, so that no word of an earlier job fits.
__global__ void reduction_fill(reduction_args a) {
  const auto node = static_cast<uint64_t>(ggas_node());
  for (uint64_t i = global_thread(); i < a.elements; i += global_threads())
    own<float>(a.input)[i] = reduction_input(a.seed, node, i);
  for (uint64_t i = global_thread(); i < reduction_sums; i += global_threads()) own<double>(a.sums)[i] = 0;
  if (global_thread() == 0) own<uint64_t>(a.words)[reduction_status] = ggas_ok;
}

__global__ void GGAS_REDUCTION_BOUNDS(4) reduction_in_kernel(reduction_args a) {
  ggas_after_stream();
  const uint64_t number = next_reduction(a);
  const ggas_status s = reduce_here(a, number);
  if (collects()) static_cast<void>(reduce_over_all(a, number, s, false));
}

// All blocks resident at once.
__global__ void GGAS_REDUCTION_BOUNDS(2) reduction_on_device(reduction_args a, unsigned rounds) {
  ggas_after_stream();
  uint64_t number = next_reduction(a);
  ggas_status s = ggas_ok;
  for (unsigned i = 0; i < rounds && s == ggas_ok; ++i, ++number) {
    s = reduce_here(a, number);
    s = collects() ? reduce_over_all(a, number, s, detail::block_count() > 1) : hear_sum(a, number);
  }
}

// The parts of it for a stream, around allreduce_on_stream.
__global__ void GGAS_REDUCTION_BOUNDS(4) reduction_here(reduction_args a) {
  ggas_after_stream();
  const ggas_status s = reduce_here(a, next_reduction(a));
  if (collects() && detail::thread_rank() == 0) tell_status(a, s);
}
__global__ void reduction_total(reduction_args a) {
  ggas_after_stream();
  const double* const sums = own<double>(a.sums);
  const auto s = static_cast<ggas_status>(ggas_load(own<uint64_t>(a.words) + reduction_status));
  if (detail::thread_rank() == 0)
    end_reduction(a, next_reduction(a), s, ggas_load(sums + sum_so_far) + ggas_load(sums + sum_of_all));
}

[[maybe_unused]] static result<> queue_in_parts(cluster& c, int node, unsigned blocks, const reduction_args& a) {
  char* const mine = c.device_context(node).local;
  auto* const sums = reinterpret_cast<double*>(mine + a.sums);
  auto* const status = reinterpret_cast<uint64_t*>(mine + a.words) + reduction_status;
  GGAS_QUEUE(launch_dependent(c, node, blocks, reduction_threads, reduction_here, a));
  GGAS_QUEUE(allreduce_on_stream(c, node, sums + sum_of_all, sums + sum_here, 1, ggas_sum, {a.timeout_ns, status}));
  return launch_dependent(c, node, 1, 32, reduction_total, a);
}

// Queues `rounds` reductions of a node. For `device` all blocks must fit a GPU at once.
[[maybe_unused]] static result<> queue_reductions(cluster& c, int node, unsigned blocks, const reduction_args& a,
                                                  reduction_way way, unsigned rounds) {
  if (way == reduction_way::device)
    return launch_dependent(c, node, blocks, reduction_threads, reduction_on_device, a, rounds);
  for (unsigned i = 0; i < rounds; ++i) {
    if (way == reduction_way::stream) {
      GGAS_QUEUE(queue_in_parts(c, node, blocks, a));
    } else {
      GGAS_QUEUE(launch_dependent(c, node, blocks, reduction_threads, reduction_in_kernel, a));
    }
  }
  return {};
}

}  // namespace ggas::bench
