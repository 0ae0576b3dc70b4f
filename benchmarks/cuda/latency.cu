// SPDX-License-Identifier: Apache-2.0
// store_latency on real GPUs.
#include "benchmarks/kernels/latency.cuh"

#include "benchmarks/cuda/rig.cuh"

namespace ggas::bench {

namespace {

constexpr unsigned most_threads = 8192, block_threads = 64;
constexpr uint64_t most_rounds = 1000;

fault store_point(gpu_session& s, unsigned threads) {
  const std::string what = std::to_string(threads) + " threads";
  const unsigned block = threads < block_threads ? threads : block_threads, blocks = threads / block;
  layout_plan room(s.data_offset());
  latency_args a{};
  a.slots = room.place<uint64_t>(threads);
  a.outcomes = room.place<outcome>(threads);
  a.rounds = s.opts().quick ? 100 : most_rounds;
  a.samples = room.place<uint64_t>(a.rounds * blocks);
  a.seed = s.seed();
  a.timeout_ns = s.wait_ns();
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, a.slots, threads * sizeof(uint64_t), 0);
  clear_outcomes(s, a.outcomes, threads);
  GGAS_GPU_TRY(s.run(what));  // nobody stores into slots that are not clear yet
  launch_all(s, blocks, block, store_pingpong, a);
  GGAS_GPU_TRY(s.run(what));
  std::vector<double> rounds;
  for (int node = 0; node + 1 < s.nodes(); node += 2) {
    for (int n : {node, node + 1}) GGAS_GPU_TRY(check_outcomes(s, n, a.outcomes, threads, what));
    const auto some = s.samples(node, a.samples, a.rounds * blocks, 0.5);
    rounds.insert(rounds.end(), some.begin(), some.end());
  }
  s.emit({.variant = "store",
          .params = {{"threads", threads}, {"bytes", threads * sizeof(uint64_t)}},
          .metric = "half_round_trip",
          .unit = "ns",
          .samples = rounds});
  return {};
}

}  // namespace

fault run_store_latency(gpu_session& s) {
  GGAS_GPU_TRY(start(s, most_threads * (sizeof(uint64_t) + sizeof(outcome) + most_rounds * sizeof(uint64_t)) + 4096));
  for (const unsigned threads : {1u, 8u, 32u, 128u, 512u, 2048u, 8192u}) GGAS_GPU_TRY(store_point(s, threads));
  return {};
}

}  // namespace ggas::bench
