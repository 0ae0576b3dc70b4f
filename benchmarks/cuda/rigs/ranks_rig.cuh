// SPDX-License-Identifier: Apache-2.0
// For benchmarks of ranks on GPUs: 16 of them, blocks of all GPUs together.
#pragma once

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/plans/upc_plan.hpp"

namespace ggas::bench {

constexpr unsigned all_ranks = 16;

// Ranks of a GPU, where all have as many.
[[maybe_unused]] static unsigned blocks_of_each(int nodes) {
  const auto n = static_cast<unsigned>(nodes);
  return n > all_ranks ? 1 : all_ranks / n;
}

// Clears the words of all ranks before the first kernel that stores to them.
[[maybe_unused]] static fault clear_ranks(gpu_session& s, const ggas_ranks& ranks, const std::string& what) {
  for (int node = 0; node < ranks.nodes.size; ++node) s.fill(node, ranks.place, detail::layout_of(ranks).bytes(), 0);
  return s.run(what);
}

template <class... P>
void launch_ranks(gpu_session& s, const ggas_ranks& ranks, unsigned threads, void (*kernel)(P...),
                  std::type_identity_t<P>... args) {
  for (int node = 0; node < ranks.nodes.size; ++node)
    s.keep(ggas::launch_grid(s.machine(), node, ranks.blocks, threads, kernel, args...), "launch");
}

}  // namespace ggas::bench
