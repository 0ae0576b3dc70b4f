// SPDX-License-Identifier: Apache-2.0
// One 4-byte access for each thread, to see how many requests they become. The first node of each pair works.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct scatter_args {
  uint64_t remote;  // offset at the partner
  uint64_t copies;  // load: offset of the results
  uint64_t values;  // 4-byte values in all
  uint64_t stride;  // distance of two, in values
  uint64_t seed;
  uint64_t outcomes;  // offset of an outcome for each thread
};

// One 4-byte store for each thread, then a quiet, so that the host finds the data.
__global__ void store_values(scatter_args a) {
  if (!leads_pair()) return;
  const unsigned t = global_thread();
  uint32_t* const to = ggas_pointer_of_node<uint32_t>(ggas_node() + 1, a.remote);
  if (t < a.values) ggas_store(to + t * a.stride, static_cast<uint32_t>(pattern(a.seed, 0, t)));
  const ggas_status s = ggas_quiet_block();
  if (t < a.values) own<outcome>(a.outcomes)[t] = {0, 0, 0, static_cast<uint64_t>(s)};
}

// One 4-byte load for each thread.
__global__ void load_values(scatter_args a) {
  if (!leads_pair()) return;
  const unsigned t = global_thread();
  if (t >= a.values) return;
  const uint32_t* const from = ggas_pointer_of_node<uint32_t>(ggas_node() + 1, a.remote);
  const uint32_t v = ggas_load(from + t * a.stride);
  own<uint32_t>(a.copies)[t] = v;
  own<outcome>(a.outcomes)[t] = {0, 0, 0, ggas_ok};
}

}  // namespace ggas::bench
