// SPDX-License-Identifier: Apache-2.0
// Stores of 8 bytes to random nodes: each has a place of its own, so that the host can look for every one.
#pragma once

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

struct random_stores_args {
  uint64_t words;  // offset of a word for each store of the cluster, on every node
  uint64_t each;   // stores of a thread
  uint64_t seed;
  uint64_t outcomes;  // offset of an outcome for each thread
};

// Number of a store in the cluster; of how many nodes, and threads of a node.
GGAS_HOST_DEVICE constexpr uint64_t store_number(uint64_t node, uint64_t thread, uint64_t i, uint64_t threads,
                                                 uint64_t each) {
  return (node * threads + thread) * each + i;
}
// Where it goes: any node but its own.
GGAS_HOST_DEVICE constexpr uint64_t store_target(uint64_t seed, uint64_t number, uint64_t node, uint64_t nodes) {
  return (node + 1 + (pattern(seed, 1, number) >> 8) % (nodes - 1)) % nodes;
}

__global__ void random_stores(random_stores_args a) {
  const auto me = static_cast<uint64_t>(ggas_node()), nodes = static_cast<uint64_t>(ggas_nodes());
  const unsigned t = global_thread();
  const uint64_t begin = time_ns();
  for (uint64_t i = 0; i < a.each; ++i) {
    const uint64_t number = store_number(me, t, i, global_threads(), a.each);
    const auto to = static_cast<int>(store_target(a.seed, number, me, nodes));
    ggas_store(ggas_pointer_of_node<uint64_t>(to, a.words) + number, pattern(a.seed, 0, number));
  }
  const ggas_status s = ggas_quiet_block();
  own<outcome>(a.outcomes)[t] = {begin, time_ns(), 0, static_cast<uint64_t>(s)};
}

}  // namespace ggas::bench
