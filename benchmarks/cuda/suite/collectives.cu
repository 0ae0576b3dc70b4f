// SPDX-License-Identifier: Apache-2.0
// barrier, sync, and collectives of all kinds but allreduce in running kernels on real GPUs.
#include "benchmarks/kernels/collectives.cuh"

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/kernels/exchange.cuh"

namespace ggas::bench {

namespace {

// One hop, and bytes over all links. One GPU has no link to cross.
std::optional<limit> floor_of(const gpu_session& s, double bytes = 0) {
  return s.nodes() > 1 ? s.limits().link_floor(1, bytes) : std::nullopt;
}

// ---------------------------------------------------------------- barrier, sync

template <by By>
fault barrier_point(gpu_session& s, bool sync, unsigned blocks, unsigned threads) {
  const char* const variant = By == by::grid ? "grid" : "block";
  const unsigned total = blocks * threads;
  const std::string what =
      std::string(variant) + (sync ? " sync " : " ") + std::to_string(blocks) + "x" + std::to_string(threads);
  layout_plan room(s.data_offset());
  barrier_args a{};
  a.mark = room.place<uint64_t>(1);
  a.outcomes = room.place<outcome>(total);
  a.rounds = s.opts().quick ? 20 : 100;
  a.samples = room.place<uint64_t>(a.rounds);
  a.checks = 4;
  a.timeout_ns = s.wait_ns();
  a.batch = 50;
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, a.mark, sizeof(uint64_t), 0);
  clear_outcomes(s, a.outcomes, total);
  GGAS_GPU_TRY(s.run(what));
  launch_all(s, blocks, threads, sync ? barrier_loop<meeting::sync, By> : barrier_loop<meeting::barrier, By>, a);
  GGAS_GPU_TRY(s.run(what));
  GGAS_GPU_TRY(check_all_outcomes(s, a.outcomes, total, what));
  s.emit({.variant = variant,
          .params = {{"blocks", blocks}, {"threads", threads}, {"method", sync ? "sync" : "barrier"}},
          .metric = "latency",
          .unit = "ns",
          .samples = s.samples(0, a.samples, a.rounds, 1.0 / static_cast<double>(a.batch)),
          .limit = floor_of(s)});
  return {};
}

// ---------------------------------------------------------------- data

// What a GPU must send at least; the root of a broadcast at least once, all members of a reduce or gather but the root,
// each of a permute, and of a scan all but the last.
double least_bytes(const exchange_args& a, int nodes) {
  const double part = static_cast<double>(a.elements * sizeof(float));
  const bool parts = many_in(a.what) || a.what == moved::allgather || a.what == moved::allreduce;
  return parts ? part * (nodes - 1) : part;
}

fault exchange_at(gpu_session& s, moved what, const kernel_shape& p, uint64_t elements) {
  const unsigned total = p.blocks * p.threads;
  const char* const variant = p.blocks > 1 ? "grid" : "block";
  const std::string text = std::to_string(p.blocks) + " x " + std::to_string(p.threads) + " threads, " +
                           std::to_string(elements) + " elements";
  layout_plan room(s.data_offset());
  exchange_args a{};
  a.what = what;
  a.elements = elements;
  a.input = room.place<float>(elements_in(what, elements, s.nodes()));
  a.output = room.place<float>(elements * static_cast<uint64_t>(s.nodes()));
  a.outcomes = room.place<outcome>(total);
  a.checks = a.rounds = elements > 4096 ? 50 : 200;
  a.seed = s.seed();
  a.timeout_ns = s.wait_ns();
  const exchange_kernel loop = p.blocks > 1 ? exchange_loop_of<true>(what) : exchange_loop_of<false>(what);
  std::vector<double> samples;
  launch_all(s, 32, 256, exchange_fill, a);
  GGAS_GPU_TRY(s.run(text));
  for (int i = 0; i < s.runs(); ++i) {
    clear_outcomes(s, a.outcomes, total);
    launch_all(s, p.blocks, p.threads, loop, a);
    GGAS_GPU_TRY(run_loops(s, a.outcomes, total, a.rounds, text, samples));
  }
  launch_all(s, p.blocks, p.threads, exchange_check, a);
  GGAS_GPU_TRY(s.run(text));
  GGAS_GPU_TRY(check_all_outcomes(s, a.outcomes, total, text));
  s.emit({.variant = variant,
          .params = {{"elements", elements},
                     {"bytes", elements * sizeof(float)},
                     {"blocks", p.blocks},
                     {"threads", p.threads},
                     {"method", variant}},
          .metric = "time",
          .unit = "ns",
          .samples = std::move(samples),
          .limit = floor_of(s, least_bytes(a, s.nodes()))});
  return {};
}

fault exchange_points(gpu_session& s, moved what) {
  GGAS_GPU_TRY(start(s, (64u << 20) + static_cast<size_t>(s.nodes()) * (8u << 20)));
  const std::vector<uint64_t> all = {1, 16, 64, 256, 1024, 4096, 16384, 65536, 1 << 20}, few = {1, 1024, 65536};
  for (const uint64_t n : s.opts().quick ? few : all) {
    for (const kernel_shape& p : kernel_shapes(s, n)) {
      if (n > 65536 && p.blocks == 1) continue;  // long for a block
      GGAS_GPU_TRY(exchange_at(s, what, p, n));
    }
  }
  return {};
}

}  // namespace

fault run_barrier(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 1u << 20));
  for (const bool sync : {false, true}) {
    for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u})
      GGAS_GPU_TRY(barrier_point<by::block>(s, sync, 1, threads));
    for (const unsigned blocks : {16u, 132u}) GGAS_GPU_TRY(barrier_point<by::grid>(s, sync, blocks, 256));
  }
  return {};
}
fault run_broadcast(gpu_session& s) { return exchange_points(s, moved::broadcast); }
fault run_allgather(gpu_session& s) { return exchange_points(s, moved::allgather); }
fault run_alltoall(gpu_session& s) { return exchange_points(s, moved::alltoall); }
fault run_reduce(gpu_session& s) { return exchange_points(s, moved::reduce); }
fault run_reducescatter(gpu_session& s) { return exchange_points(s, moved::reducescatter); }
fault run_gather(gpu_session& s) { return exchange_points(s, moved::gather); }
fault run_scatter(gpu_session& s) { return exchange_points(s, moved::scatter); }
fault run_permute(gpu_session& s) { return exchange_points(s, moved::permute); }
fault run_scan(gpu_session& s) { return exchange_points(s, moved::scan); }

}  // namespace ggas::bench
