// SPDX-License-Identifier: Apache-2.0
// The testbed of UPC's collectives: ranks alternate a call and local computing, and may start late or compute longer
// than the others. Each rank keeps the means of its times.
#pragma once

#include "benchmarks/kernels/upc.cuh"

namespace ggas::bench {

struct upc_case_args {
  upc_args call;      // `rounds` calls, of which nothing but the times differ; `samples`: three means of each rank
  uint64_t warm_ups;  // calls before, which say how long one takes
  double computing;   // so many times that long between two calls
  int skewed;         // the rank that computes ten times as long; -1: none
  int late;           // the rank that begins late, by late_ns; -1: none
  uint64_t late_ns;
};
enum upc_time { upc_collective, upc_computing, upc_overall, upc_times };

// By the block: time passes, and nothing of another rank is touched.
GGAS_DEVICE void upc_compute(uint64_t ns) {
  if (detail::is_first_thread())
    for (const uint64_t begin = time_ns(); time_ns() - begin < ns;) __nanosleep(500);
  __syncthreads();
}

// Not inlined: the kernel has four calls, each with the code of all methods.
GGAS_DEVICE_FUNCTION ggas_status upc_case_call(const upc_args& a) { return upc_once(a); }

GGAS_DEVICE ggas_status upc_turns(const upc_case_args& a, uint64_t compute_ns, uint64_t* means) {
  uint64_t sums[upc_times] = {0, 0, 0};
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.call.rounds && s == ggas_ok; ++round) {
    const uint64_t begin = time_ns();
    s = upc_case_call(a.call);
    const uint64_t called = time_ns();
    upc_compute(compute_ns);
    const uint64_t end = time_ns();
    sums[upc_collective] += called - begin;
    sums[upc_computing] += end - called;
    sums[upc_overall] += end - begin;
  }
  if (detail::is_first_thread())
    for (int i = 0; i < upc_times; ++i) means[i] = sums[i] / a.call.rounds;
  return s;
}

// All of what one call brings, into a destination that was overwritten.
GGAS_DEVICE ggas_status upc_checked_call(const upc_args& a, uint64_t& errors) {
  const int me = ggas_rank(a.ranks), count = ggas_rank_count(a.ranks);
  float* const out = ggas_pointer_of_rank(a.ranks, me, a.output);
  const uint64_t outputs = a.elements * (upc_many_out(a.what) ? static_cast<uint64_t>(count) : 1);
  __syncthreads();  // others of the block may still look at what came before
  for (uint64_t i = detail::thread_rank(); i < outputs; i += detail::thread_count()) out[i] = -1;
  ggas_status s = ggas_barrier(a.ranks, a.timeout_ns);
  if (s == ggas_ok) s = upc_case_call(a);
  if (s == ggas_ok) s = ggas_barrier(a.ranks, a.timeout_ns);  // what a call of ggas_out_none leaves is here then
  if (s == ggas_ok) errors += upc_count_wrong(a, 0);
  return s == ggas_ok ? ggas_barrier(a.ranks, a.timeout_ns) : s;
}

[[maybe_unused]] static __global__ void GGAS_LAUNCH_BOUNDS(512) upc_case_loop(upc_case_args a) {
  outcome out{0, 0, 0, ggas_ok};
  const int me = ggas_rank(a.call.ranks), count = ggas_rank_count(a.call.ranks);
  float* const in = ggas_pointer_of_rank(a.call.ranks, me, a.call.input);
  const uint64_t inputs = a.call.elements * (upc_many_in(a.call.what) ? static_cast<uint64_t>(count) : 1);
  for (uint64_t i = detail::thread_rank(); i < inputs; i += detail::thread_count()) in[i] = upc_value(a.call, me, 0, i);
  ggas_status s = upc_checked_call(a.call, out.errors);
  const uint64_t begin = time_ns();
  for (uint64_t i = 0; i < a.warm_ups && s == ggas_ok; ++i) s = upc_case_call(a.call);
  const double call_ns = static_cast<double>(time_ns() - begin) / static_cast<double>(a.warm_ups);
  if (s == ggas_ok) s = ggas_barrier(a.call.ranks, a.call.timeout_ns);
  if (me == a.late) upc_compute(a.late_ns);
  const auto compute_ns = static_cast<uint64_t>(a.computing * call_ns * (me == a.skewed ? 10 : 1));
  if (s == ggas_ok) s = upc_turns(a, compute_ns, own<uint64_t>(a.call.samples) + detail::block_rank() * upc_times);
  if (s == ggas_ok) s = ggas_barrier(a.call.ranks, a.call.timeout_ns);
  if (s == ggas_ok) out.errors += upc_count_wrong(a.call, 0);
  if (s == ggas_ok) s = upc_checked_call(a.call, out.errors);
  out.status = s;
  own<outcome>(a.call.outcomes)[global_thread()] = out;
}

}  // namespace ggas::bench
