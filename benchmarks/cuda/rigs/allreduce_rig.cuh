// SPDX-License-Identifier: Apache-2.0
// Measures an allreduce called in a running kernel: the benchmark and the tuner do. Included after rig.cuh.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/kernels/exchange.cuh"

namespace ggas::bench {

struct allreduce_point {
  uint64_t elements;
  bool grid;
  ggas_method method;
  unsigned blocks, threads;
  bool checks_all = false;  // as many calls as are measured go before, and the result of each is looked at
};

// Time of one call in a loop, of the slowest node; one sample for each of `runs` kernels. The sums are checked.
[[maybe_unused]] static fault time_allreduce(gpu_session& s, const allreduce_point& p, int runs,
                                             std::vector<double>& samples) {
  const unsigned total = p.blocks * p.threads, check_blocks = 64, check_threads = 256;
  const std::string text = "allreduce, method " + std::to_string(p.method) + ", " + std::to_string(p.elements) +
                           " elements, " + std::to_string(p.blocks) + " x " + std::to_string(p.threads) + " threads";
  layout_plan room(s.data_offset());
  exchange_args a{};
  a.what = moved::allreduce;
  a.elements = p.elements;
  a.outcomes = room.place<outcome>(std::max(total, check_blocks * check_threads));
  a.input = room.place<float>(elements_in(a.what, p.elements, s.nodes()));
  a.output = room.place<float>(p.elements);
  a.rounds = p.elements > (1u << 20) ? 5 : p.elements > (1u << 16) ? 50 : 300;
  a.checks = p.checks_all ? a.rounds : 3;
  a.seed = s.seed();
  a.timeout_ns = s.wait_ns();
  a.method = p.method;
  launch_all(s, check_blocks, check_threads, exchange_fill, a);
  const auto loop = p.grid ? exchange_loop<moved::allreduce, true> : exchange_loop<moved::allreduce, false>;
  for (int i = 0; i < runs; ++i) {
    clear_outcomes(s, a.outcomes, total);
    launch_all(s, p.blocks, p.threads, loop, a);
    GGAS_GPU_TRY(run_loops(s, a.outcomes, total, a.rounds, text, samples));
  }
  clear_outcomes(s, a.outcomes, check_blocks * check_threads);
  launch_all(s, check_blocks, check_threads, exchange_check, a);
  GGAS_GPU_TRY(s.run(text));
  return check_all_outcomes(s, a.outcomes, check_blocks * check_threads, text);
}

}  // namespace ggas::bench
