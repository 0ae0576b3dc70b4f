// SPDX-License-Identifier: Apache-2.0
// barrier on real GPUs.
#include "benchmarks/kernels/collectives.cuh"

#include "benchmarks/cuda/rig.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t most_rounds = 1000;

fault barrier_point(gpu_session& s, const char* variant, unsigned blocks, unsigned threads) {
  const unsigned total = blocks * threads;
  const std::string what = std::string(variant) + " " + std::to_string(blocks) + "x" + std::to_string(threads);
  layout_plan room(s.data_offset());
  barrier_args a{};
  a.mark = room.place<uint64_t>(1);
  a.outcomes = room.place<outcome>(total);
  a.rounds = s.opts().quick ? 100 : most_rounds;
  a.samples = room.place<uint64_t>(a.rounds);
  a.checks = 4;
  a.timeout_ns = s.wait_ns();
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, a.mark, sizeof(uint64_t), 0);
  clear_outcomes(s, a.outcomes, total);
  GGAS_GPU_TRY(s.run(what));
  launch_all(s, blocks, threads, barrier_loop, a);
  GGAS_GPU_TRY(s.run(what));
  GGAS_GPU_TRY(check_all_outcomes(s, a.outcomes, total, what));
  s.emit({.variant = variant,
          .params = {{"threads", total}, {"method", "barrier"}},
          .metric = "latency",
          .unit = "ns",
          .samples = s.samples(0, a.samples, a.rounds)});
  return {};
}

}  // namespace

fault run_barrier(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 1u << 20));
  GGAS_GPU_TRY(barrier_point(s, "block", 1, 32));
  GGAS_GPU_TRY(barrier_point(s, "block", 1, 1024));
  return barrier_point(s, "grid", 16, 256);
}

}  // namespace ggas::bench
