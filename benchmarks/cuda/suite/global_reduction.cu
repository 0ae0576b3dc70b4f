// SPDX-License-Identifier: Apache-2.0
// global_reduction on real GPUs: reductions a second, by kernels of a graph or by one kernel for all.
#include "benchmarks/kernels/global_reduction.cuh"

#include "benchmarks/cuda/energy.hpp"
#include "benchmarks/cuda/rigs/graphs.cuh"

namespace ggas::bench {

namespace {

constexpr int in_a_graph = 100;

fault check(gpu_session& s, const reduction_args& a, double want, const std::string& what) {
  for (int node = 0; node < s.nodes(); ++node) {
    const std::string where = what + ": node " + std::to_string(node) + ": ";
    const auto status = static_cast<ggas_status>(s.read<uint64_t>(node, a.words, reduction_words)[reduction_status]);
    if (status != ggas_ok) return {where + ggas_status_text(status)};
    if (s.read<double>(node, a.sums, reduction_sums)[sum_so_far] != want) return {where + "wrong sum"};
  }
  return {};
}

// Two blocks on each multiprocessor keep its memory busy, and both stay resident; short arrays are not worth so many.
unsigned most_blocks(gpu_session& s) { return static_cast<unsigned>(2 * s.limits().multiprocessors); }
unsigned blocks_for(gpu_session& s, const reduction_args& a) {
  return static_cast<unsigned>(std::clamp<uint64_t>(a.elements / (4 * reduction_threads), 1, most_blocks(s)));
}

void capture(gpu_session& s, node_graphs& graphs, const reduction_args& a, reduction_way way) {
  const unsigned blocks = blocks_for(s, a);
  graphs.capture([&](int node) { return queue_reductions(s.machine(), node, blocks, a, way, in_a_graph); });
}

// The array once from memory, and a hop to every member.
limit reduction_ceiling(gpu_session& s, uint64_t bytes) {
  const double ns = double(bytes) / s.limits().memory_bytes_per_s * 1e9 + (s.nodes() > 1 ? s.limits().hop_ns : 0);
  return {1e9 / ns, true, "memory: the array once; links: a hop"};
}

fault reduction_point(gpu_session& s, const reduction_args& a, reduction_way way, double result) {
  const std::string what = std::string(name_of(way)) + ", " + std::to_string(a.elements) + " elements";
  launch_all(s, 1024, reduction_threads, reduction_fill, a);
  GGAS_GPU_TRY(s.run(what));
  node_graphs graphs(s);
  capture(s, graphs, a, way);
  std::vector<double> samples;
  for (int i = 0; i <= s.runs(); ++i) {
    double ns = 0;
    GGAS_GPU_TRY(graphs.run(what, ns));
    if (i > 0) samples.push_back(in_a_graph * 1e9 / ns);
  }
  GGAS_GPU_TRY(check(s, a, result * in_a_graph * (s.runs() + 1), what));
  const uint64_t bytes = a.elements * sizeof(float);
  s.emit({.variant = name_of(way),
          .params = {{"elements", a.elements}, {"bytes", bytes}},
          .metric = "reductions",
          .unit = "1/s",
          .samples = samples,
          .limit = reduction_ceiling(s, bytes)});
  return {};
}

// A cluster with room for arrays of so many floats.
fault prepare(gpu_session& s, reduction_args& a, uint64_t most_elements) {
  GGAS_GPU_TRY(start(s, most_elements * sizeof(float) + (1u << 20)));
  a = plan_reduction(s.data_offset(), most_elements, most_blocks(s), s.seed(), s.wait_ns());
  return {};
}

}  // namespace

// What energy is measured of: reductions of arrays of 4 MB.
fault global_reduction_load(gpu_session& s, work_meter& m) {
  constexpr int graphs_in_a_job = 50;
  reduction_args a{};
  GGAS_GPU_TRY(prepare(s, a, 1u << 20));
  a.elements = 1u << 20;
  launch_all(s, 1024, reduction_threads, reduction_fill, a);
  GGAS_GPU_TRY(s.run("fill"));
  node_graphs graphs(s);
  capture(s, graphs, a, reduction_way::in_kernel);
  while (m.more()) {
    for (int i = 0; i < graphs_in_a_job; ++i) {
      double ns = 0;
      GGAS_GPU_TRY(graphs.run("energy", ns));
    }
    m.add(graphs_in_a_job * in_a_graph);
  }
  return {};
}

fault run_global_reduction(gpu_session& s) {
  reduction_args a{};
  GGAS_GPU_TRY(prepare(s, a, 64u << 20));
  const std::vector<unsigned> sizes =
      s.opts().quick ? std::vector<unsigned>{10, 20} : std::vector<unsigned>{10, 16, 20, 26};
  for (const unsigned k : sizes) {
    a.elements = uint64_t{1} << k;
    const double result = reduction_result(a, s.nodes());
    for (const reduction_way way : all_reduction_ways) GGAS_GPU_TRY(reduction_point(s, a, way, result));
  }
  return {};
}

}  // namespace ggas::bench
