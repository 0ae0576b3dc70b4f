// SPDX-License-Identifier: Apache-2.0
// upc_cases: the testbed of UPC's collectives (upc_case_plan.hpp) by 16 ranks, blocks of all GPUs together.
#include <array>

#include "benchmarks/cuda/rigs/ranks_rig.cuh"
#include "benchmarks/plans/upc_case_plan.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned threads = 128;

fault case_point(gpu_session& s, const upc_case& c, const upc_kind& k, uint64_t elements) {
  const std::string text = std::string(c.name) + " " + k.name + ", " + std::to_string(elements) + " elements";
  layout_plan room(s.data_offset());
  upc_case_args a =
      plan_case(room, s.nodes(), blocks_of_each(s.nodes()), threads, c, k, elements, s.opts().quick ? 10 : 1000);
  a.call.seed = s.seed();
  a.call.timeout_ns = s.wait_ns();
  const ggas_ranks& ranks = a.call.ranks;
  const size_t total = size_t{ranks.blocks} * threads;
  clear_outcomes(s, a.call.outcomes, total);
  GGAS_GPU_TRY(clear_ranks(s, ranks, text));
  launch_ranks(s, ranks, threads, upc_case_loop, a);
  GGAS_GPU_TRY(s.run(text));
  GGAS_GPU_TRY(check_all_outcomes(s, a.call.outcomes, total, text));
  std::array<std::vector<double>, upc_times> times;
  for (int node = 0; node < s.nodes(); ++node) {
    const std::vector<double> of_node = s.samples(node, a.call.samples, size_t{ranks.blocks} * upc_times, 1.0);
    for (size_t i = 0; i < of_node.size(); ++i) times[i % upc_times].push_back(of_node[i]);
  }
  for (size_t i = 0; i < upc_times; ++i) {
    const size_t slowest = slowest_of(times[i]);
    s.emit({.variant = c.name,
            .params = {{"elements", elements},
                       {"bytes", elements * sizeof(float)},
                       {"threads", threads},
                       {"method", k.name},
                       {"scheme", scheme_of(c)},
                       {"slowest", slowest}},
            .metric = upc_time_names[i],
            .unit = "ns",
            .samples = {times[i][slowest]}});
  }
  return {};
}

}  // namespace

fault run_upc_cases(gpu_session& s) {
  const uint64_t most = s.opts().quick ? 16 : 4096, step = 16;
  GGAS_GPU_TRY(start(s, upc_case_bytes(s.nodes(), blocks_of_each(s.nodes()), most)));
  for (const upc_case& c : upc_cases)
    for (const upc_kind& k : upc_kinds)
      for (uint64_t n = 16; n <= most && runs(c, k, n, s.opts().quick); n *= step) GGAS_GPU_TRY(case_point(s, c, k, n));
  return {};
}

}  // namespace ggas::bench
