// SPDX-License-Identifier: Apache-2.0
// Ping-pong of stores, and rounds of remote loads. Nodes work in pairs: 0 and 1, 2 and 3, …; without a partner a node
// is idle.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct latency_args {
  uint64_t slots;     // offset of a word for each thread: the flag its partner stores to, or the value it loads
  uint64_t copies;    // load: offset of a word for each thread, where the loaded value goes
  uint64_t outcomes;  // offset of an outcome for each thread
  uint64_t samples;   // offset of durations in ns: `rounds` for each block, of its first thread
  uint64_t rounds;    // measured ones; one more goes before as a warm-up
  uint64_t seed;
  uint64_t timeout_ns;
};

// Each thread stores one word into its slot at the partner and polls its own; the partner answers. Half of a round is
// the latency. The kernel is used by one translation unit only, so it is not inline.
__global__ void store_pingpong(latency_args a) {
  const int me = ggas_node(), peer = me ^ 1;
  if (peer >= ggas_nodes()) return;
  const bool first = me < peer;
  const unsigned t = global_thread(), mask = detail::lane_mask();
  uint64_t* const mine = own<uint64_t>(a.slots) + t;
  uint64_t* const theirs = ggas_pointer_of_node<uint64_t>(peer, a.slots) + t;
  uint64_t* const samples = own<uint64_t>(a.samples) + a.rounds * detail::block_rank();
  outcome out{0, 0, 0, ggas_ok};
  uint64_t before = time_ns();
  out.begin_ns = before;
  for (uint64_t round = 0; round <= a.rounds; ++round) {
    if (first) ggas_store(theirs, pattern(a.seed, 2 * round, t));
    // Only the value of this round ends the wait: a wrong one is found by the time-out.
    const ggas_status s = ggas_wait_until(mine, ggas_eq, pattern(a.seed, 2 * round + (first ? 1 : 0), t), a.timeout_ns);
    if (s != ggas_ok && out.status == ggas_ok) out.status = s;
    __syncwarp(mask);  // the warp stays together, so its stores leave together
    // The slot is clear before the answer leaves: otherwise the clearing could overwrite the next value.
    ggas_store<uint64_t>(mine, 0);
    ggas_fence_gpu();
    if (!first) ggas_store(theirs, pattern(a.seed, 2 * round + 1, t));
    const uint64_t now = time_ns();
    if (round == 0) out.begin_ns = now;
    if (round > 0 && detail::thread_rank() == 0) samples[round - 1] = now - before;
    before = now;
    if (__any_sync(mask, out.status != ggas_ok)) break;
  }
  out.end_ns = before;
  own<outcome>(a.outcomes)[t] = out;
}

// Each thread of the first node of a pair loads a remote word, stores it locally and runs a system fence.
__global__ void load_rounds(latency_args a) {
  const int me = ggas_node(), peer = me ^ 1;
  if (peer >= ggas_nodes() || me > peer) return;
  const unsigned t = global_thread(), mask = detail::lane_mask();
  const uint64_t* const theirs = ggas_pointer_of_node<uint64_t>(peer, a.slots) + t;
  uint64_t* const copy = own<uint64_t>(a.copies) + t;
  uint64_t* const samples = own<uint64_t>(a.samples) + a.rounds * detail::block_rank();
  const uint64_t expected = pattern(a.seed, 0, t);
  outcome out{0, 0, 0, ggas_ok};
  uint64_t before = time_ns();
  for (uint64_t round = 0; round <= a.rounds; ++round) {
    const uint64_t value = ggas_load(theirs);
    __syncwarp(mask);
    ggas_store(copy, value);
    ggas_fence();
    if (value != expected) ++out.errors;
    const uint64_t now = time_ns();
    if (round == 0) out.begin_ns = now;
    if (round > 0 && detail::thread_rank() == 0) samples[round - 1] = now - before;
    before = now;
  }
  out.end_ns = before;
  own<outcome>(a.outcomes)[t] = out;
}

}  // namespace ggas::bench
