// SPDX-License-Identifier: Apache-2.0
// Bandwidth and rates between GPUs that access each other's memory directly: many transfers in flight, by a grid. The
// first node of each pair works. Outcomes report when a block began and when its part had arrived.
#pragma once

#include "benchmarks/kernels/sent_words.cuh"

namespace ggas::bench {

struct rate_args {
  uint64_t here, there;  // offsets of buffers: own, and the partner's
  uint64_t bytes;        // of all: a multiple of 16; of one message for small puts
  uint64_t count;        // small puts, atomics: of each thread or warp
  uint64_t outcomes;     // offset of an outcome for each block
  uint64_t timeout_ns;
  uint64_t run;  // its number: what is sent differs from run to run
};

// Runs work() between looks at the clock; a block has ended when all it stored has arrived.
template <class F>
GGAS_DEVICE void timed_block(const rate_args& a, F work) {
  __syncthreads();
  const uint64_t begin = time_ns();
  ggas_status s = work();
  const ggas_status arrived = ggas_quiet_block();
  if (s == ggas_ok) s = arrived;
  if (detail::thread_rank() == 0)
    own<outcome>(a.outcomes)[detail::block_rank()] = {begin, time_ns(), 0, static_cast<uint64_t>(s)};
}

__global__ void put_by_grid(rate_args a) {
  if (!leads_pair()) return;
  timed_block(a, [&] {
    return ggas_put_nbi_grid(ggas_pointer_of_node<char>(ggas_node() + 1, a.there), own<char>(a.here), a.bytes,
                             a.timeout_ns);
  });
}

__global__ void get_by_grid(rate_args a) {
  if (!leads_pair()) return;
  timed_block(a, [&] {
    return ggas_get_nbi_grid(own<char>(a.here), ggas_pointer_of_node<char>(ggas_node() + 1, a.there), a.bytes,
                             a.timeout_ns);
  });
}

// `count` messages of each sender, every one to a place of its own, `bytes` apart (0: all to one): send(offset).
template <class F>
GGAS_DEVICE void send_messages(const rate_args& a, uint64_t sender, uint64_t senders, F send) {
  if (!leads_pair()) return;
  timed_block(a, [&] {
    ggas_status s = ggas_ok;
    for (uint64_t i = 0; i < a.count && s == ggas_ok; ++i) s = send((i * senders + sender) * a.bytes);
    return s;
  });
}
// The partner's buffer; null where there is no partner.
GGAS_DEVICE uint64_t* partners(const rate_args& a) { return ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.there); }

// Puts of warps.
__global__ void GGAS_LAUNCH_BOUNDS(1024) put_messages(rate_args a) {
  uint64_t* const to = partners(a);
  const uint64_t* const from = own<uint64_t>(a.here);
  send_messages(a, global_thread() / 32, global_threads() / 32,
                [&](uint64_t at) { return ggas_put_nbi_warp(to + at / 8, from + at / 8, a.bytes / 8, a.timeout_ns); });
}

// Puts of threads.
__global__ void GGAS_LAUNCH_BOUNDS(1024) put_messages_of_threads(rate_args a) {
  uint64_t* const to = partners(a);
  const uint64_t* const from = own<uint64_t>(a.here);
  send_messages(a, global_thread(), global_threads(),
                [&](uint64_t at) { return ggas_put_nbi(to + at / 8, from + at / 8, a.bytes / 8, a.timeout_ns); });
}

// Values of threads: 8 bytes each.
__global__ void GGAS_LAUNCH_BOUNDS(1024) put_values(rate_args a) {
  const uint64_t key = sender_key(a.run, ggas_node());
  uint64_t* const to = partners(a);
  send_messages(a, global_thread(), global_threads(), [&](uint64_t at) {
    return ggas_put_value_nbi(to + at / 8, sent_word(key, at / sizeof(uint64_t)), a.timeout_ns);
  });
}

// Adds of threads.
__global__ void post_adds(rate_args a) {
  uint64_t* const to = partners(a);
  send_messages(a, global_thread(), global_threads(),
                [&](uint64_t at) { return ggas_add(to + at / 8, uint64_t{1}, a.timeout_ns); });
}

// The same to floats.
__global__ void post_float_adds(rate_args a) {
  auto* const to = reinterpret_cast<float*>(partners(a));
  send_messages(a, global_thread(), global_threads(),
                [&](uint64_t at) { return ggas_add(to + at / 4, 1.0f, a.timeout_ns); });
}

}  // namespace ggas::bench
