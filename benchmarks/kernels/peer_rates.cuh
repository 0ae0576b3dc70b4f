// SPDX-License-Identifier: Apache-2.0
// Bandwidth and rates between GPUs that reach each other's memory directly: many transfers under way, by a grid. The
// first node of each pair works. Outcomes tell when a block began and when its part had arrived.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct rate_args {
  uint64_t here, there;  // offsets of buffers: own, and the partner's
  uint64_t bytes;        // of all: a multiple of 16; of one message for small puts
  uint64_t count;        // small puts, atomics: of each thread or warp
  uint64_t outcomes;     // offset of an outcome for each block
  uint64_t timeout_ns;
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

// Messages of warps, each to a place of its own.
__global__ void put_messages(rate_args a) {
  if (!leads_pair()) return;
  const uint64_t warp = global_thread() / 32, warps = global_threads() / 32;
  timed_block(a, [&] {
    ggas_status s = ggas_ok;
    for (uint64_t i = 0; i < a.count && s == ggas_ok; ++i) {
      const uint64_t at = (i * warps + warp) * a.bytes;
      s = ggas_put_nbi_warp(ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.there + at), own<uint64_t>(a.here + at),
                            a.bytes / 8, a.timeout_ns);
    }
    return s;
  });
}

// Values of threads: 8 bytes each, neighbours a line apart, so that none travel together.
__global__ void put_values(rate_args a) {
  if (!leads_pair()) return;
  const uint64_t thread = global_thread(), threads = global_threads();
  timed_block(a, [&] {
    ggas_status s = ggas_ok;
    for (uint64_t i = 0; i < a.count && s == ggas_ok; ++i) {
      const uint64_t at = (i * threads + thread) * a.bytes;
      s = ggas_put_value_nbi(ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.there + at), i, a.timeout_ns);
    }
    return s;
  });
}

// Adds of threads to words that are `bytes` apart; 0: all to one word.
__global__ void post_adds(rate_args a) {
  if (!leads_pair()) return;
  const uint64_t thread = global_thread(), threads = global_threads();
  timed_block(a, [&] {
    ggas_status s = ggas_ok;
    for (uint64_t i = 0; i < a.count && s == ggas_ok; ++i) {
      const uint64_t at = (i * threads + thread) * a.bytes;
      s = ggas_add(ggas_pointer_of_node<uint64_t>(ggas_node() + 1, a.there + at), uint64_t{1}, a.timeout_ns);
    }
    return s;
  });
}

}  // namespace ggas::bench
