// SPDX-License-Identifier: Apache-2.0
// put_latency, get_latency, atomic_latency: one transfer at a time.
#pragma once

#include "benchmarks/kernels/one_sided/one_sided.cuh"

namespace ggas::bench {

// Does something in every round, back to back, and keeps how long each took; the first only warms up.
template <class Once>
GGAS_DEVICE void time_rounds(const one_sided_args& a, const ggas_queue& q, Once once) {
  outcome out{0, 0, 0, ggas_ok};
  uint64_t before = time_ns();
  for (uint64_t round = 0; round <= a.rounds && out.status == ggas_ok; ++round) {
    out.status = once(round, out.errors);
    const uint64_t now = time_ns();
    if (round == 0) out.begin_ns = now;
    if (round > 0 && detail::thread_rank() == 0) own<uint64_t>(a.samples)[round - 1] = now - before;
    before = now;
  }
  out.end_ns = before;
  if (a.how == control::old_way) old_close(q);
  if (detail::thread_rank() == 0) own<outcome>(a.outcomes)[0] = out;
}

// Round trips of messages; half of a round is the latency. One warp sends them, or one thread if `old way` or the
// processor is used.
__global__ void put_pingpong(one_sided_args a) {
  const int me = ggas_node(), peer = me ^ 1;
  if (peer >= ggas_nodes()) return;
  const bool first = me < peer;
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  time_rounds(a, q, [&](uint64_t round, uint64_t&) {
    const uint64_t number = 2 * (a.first + round) + 2;
    ggas_status s = ggas_ok;
    if (first) s = send_message(a, q, peer, number);
    if (s == ggas_ok) s = await_message(a, q, first ? number + 1 : number);
    if (s == ggas_ok && !first) s = send_message(a, q, peer, number + 1);
    return s;
  });
}

__global__ void get_rounds(one_sided_args a) {
  if (!leads_pair()) return;
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  time_rounds(a, q, [&](uint64_t round, uint64_t&) { return get_once(a, q, ggas_node() + 1, round + 1); });
}

// Fetch-adds of one on a word of the partner, back to back; old values must count up. If assisted, the processor sets
// the flag to the old value plus one.
__global__ void atomic_rounds(one_sided_args a) {
  if (!leads_pair()) return;
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  auto* const word = ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.target);
  time_rounds(a, q, [&](uint64_t round, uint64_t& errors) {
    if (a.how == control::assisted) {
      ggas_store(a.request, a.first + round + 1);
      return ggas_wait_until(own<uint64_t>(a.flag), ggas_eq, a.first + round + 1, a.timeout_ns);
    }
    uint64_t old = 0;
    const ggas_status s =
        ggas_atomic_fetch_warp(ggas_atomic_add, word, uint64_t{1}, uint64_t{0}, &old, a.timeout_ns, q);
    if (old != a.first + round) ++errors;
    return s;
  });
}

}  // namespace ggas::bench
