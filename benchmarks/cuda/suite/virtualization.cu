// SPDX-License-Identifier: Apache-2.0
// virtualization on one GPU: time of a kernel over its blocks, and state that is kept over a barrier or stored.
#include "benchmarks/kernels/virtualization.cuh"

#include "benchmarks/cuda/rigs/graphs.cuh"
#include "benchmarks/plans/virtualization_plan.hpp"

namespace ggas::bench {

namespace {

fault micro_point(gpu_session& s, node_graphs& timer, const char* variant, unsigned blocks, void (*kernel)(micro_args),
                  bool of_state = false, int launches = 1) {
  const std::string what = std::string(variant) + ", " + std::to_string(blocks) + " blocks";
  layout_plan room(s.data_offset());
  micro_args a = place_micro(room, blocks);
  a.iterations = of_state ? 10 : s.opts().quick ? 1000 : 10000;
  a.timeout_ns = s.wait_ns();
  const size_t count = size_t{blocks} * micro_threads;
  std::vector<double> samples;
  for (int i = 0; i <= s.runs(); ++i) {
    double ns = 0;
    s.fill(0, a.x, room.place<char>(0) - a.x, 0);
    s.write(0, a.y, std::vector<float>(count, 1.0f));
    GGAS_GPU_TRY(s.run(what));
    GGAS_GPU_TRY(timer.timed_alone(
        0, what,
        [&]() -> result<> {
          for (int k = 0; k < launches; ++k)
            if (auto ok = ggas::launch(s.machine(), 0, blocks, micro_threads, kernel, launch_of(a, k)); !ok) return ok;
          return {};
        },
        ns));
    GGAS_GPU_TRY(check_outcomes(s, 0, a.outcomes, count * static_cast<size_t>(launches), what));
    if (i > 0) samples.push_back(ns);
  }
  const std::string wrong = wrong_micro(a, s.read<float>(0, a.x, 1)[0], s.read<float>(0, a.state, 1)[0], of_state);
  if (!wrong.empty()) return {what + ": " + wrong};
  s.emit({.variant = variant,
          .params = {{"blocks", blocks}, {"threads", micro_threads}},
          .metric = "time",
          .unit = "ns",
          .samples = samples});
  return {};
}

}  // namespace

fault run_virtualization(gpu_session& s) {
  const auto multiprocessors = static_cast<unsigned>(s.limits().multiprocessors);
  GGAS_GPU_TRY(start(s, micro_bytes(8 * multiprocessors + 1)));
  node_graphs timer(s);
  for (const unsigned k : {1u, 2u, 4u, 8u}) {
    for (const unsigned blocks : {k * multiprocessors - 1, k * multiprocessors, k * multiprocessors + 1}) {
      GGAS_GPU_TRY(micro_point(s, timer, "registers", blocks, micro_registers));
      GGAS_GPU_TRY(micro_point(s, timer, "shared", blocks, micro_shared));
    }
  }
  GGAS_GPU_TRY(micro_point(s, timer, "state_kept", multiprocessors, state_kept, true));
  return micro_point(s, timer, "state_stored", multiprocessors, state_stored, true, 2);
}

}  // namespace ggas::bench
