// SPDX-License-Identifier: Apache-2.0
// put_bandwidth, get_bandwidth, message_rate: many transfers under way.
#pragma once

#include "benchmarks/kernels/one_sided/one_sided.cuh"

namespace ggas::bench {

// The first node of each pair puts in a stream, one block for each queue, until all puts have arrived. notify: as fast
// as the queue accepts them. old way: the block waits for the requester's notification before the next put. assisted:
// the processor makes one put at a time for each block, and sets the block's flag when the put has arrived.
GGAS_DEVICE ggas_status stream_puts(const one_sided_args& a, const ggas_queue& q, uint64_t block) {
  const int peer = ggas_node() + 1;
  const uint64_t shift = block * a.bytes;
  auto* const to = ggas_pointer_of_node<uint64_t>(peer, a.target + shift);
  const auto* const from = own<uint64_t>(a.source + shift);
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    if (a.how == control::assisted) {
      ggas_store(a.request + block, round + 1);
      s = ggas_wait_until(own<uint64_t>(a.flag) + block, ggas_ge, round + 1, a.timeout_ns);
      continue;
    }
    if (a.how != control::old_way) {
      s = ggas_put_nbi_warp(to, from, a.bytes / 8, a.timeout_ns, q);
      continue;
    }
    const uint64_t op = detail::desc_put | old_requester | detail::want_ack;
    old_post(q, op, peer, a.bytes, detail::local_nla(from), detail::nla(peer, a.target + shift), round);
    s = old_consume(q, a.request + block, a.timeout_ns);
  }
  if (s != ggas_ok) return s;
  return a.how == control::old_way || a.how == control::assisted ? ggas_ok : ggas_quiet_warp(q, a.timeout_ns);
}

GGAS_DEVICE ggas_status stream_gets(const one_sided_args& a, const ggas_queue& q, uint64_t block) {
  const uint64_t shift = block * a.bytes;
  const auto* const from = ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.target + shift);
  one_sided_args mine = a;
  mine.source += shift;
  mine.target += shift;
  ggas_status s = ggas_ok;
  for (uint64_t round = 0; round < a.rounds && s == ggas_ok; ++round) {
    s = a.how == control::old_way ? get_once(mine, q, ggas_node() + 1, round)
                                  : ggas_get_nbi_warp(own<uint64_t>(mine.source), from, a.bytes / 8, a.timeout_ns, q);
  }
  if (s != ggas_ok) return s;
  return a.how == control::old_way ? ggas_ok : ggas_quiet_warp(q, a.timeout_ns);
}

template <ggas_status (*Stream)(const one_sided_args&, const ggas_queue&, uint64_t)>
GGAS_DEVICE void run_stream(const one_sided_args& a) {
  if (!leads_pair()) return;
  const uint64_t block = detail::block_rank();
  const ggas_queue q = ggas_queue_of(static_cast<int>(block) % ggas_queues(), ggas_exclusive);
  outcome out{time_ns(), 0, 0, ggas_ok};
  out.status = Stream(a, q, block);
  out.end_ns = time_ns();
  if (a.how == control::old_way) old_close(q);
  if (detail::thread_rank() == 0) own<outcome>(a.outcomes)[block] = out;
}

__global__ void put_stream(one_sided_args a) { run_stream<stream_puts>(a); }
__global__ void get_stream(one_sided_args a) { run_stream<stream_gets>(a); }

}  // namespace ggas::bench
