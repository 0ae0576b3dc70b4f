// SPDX-License-Identifier: Apache-2.0
// Collectives as nodes of a CUDA graph: many of them in one graph, time for each.
#include "benchmarks/cuda/rigs/collective_graphs.cuh"

namespace ggas::bench {

namespace {

// What a GPU has to send or get at least, in parts of a vector: an allreduce (n - 1) / n twice, what the root of a
// broadcast or a reduce sends or gets, and any of a permute or scan, once, a part of each other one.
double least_parts(moved what, double nodes) {
  if (what == moved::allreduce) return 2 * (nodes - 1) / nodes;
  const bool one = what == moved::broadcast || what == moved::reduce || what == moved::permute || what == moved::scan;
  return one ? 1 : nodes - 1;
}

std::optional<limit> floor_of(gpu_session& s, moved what, uint64_t bytes) {
  if (s.nodes() == 1) return {};
  return s.limits().link_floor(1, least_parts(what, s.nodes()) * static_cast<double>(bytes));
}

// Blocks and threads that a call on a stream is launched with where its caller does not say.
tuning::launch usual_launch(gpu_session& s, moved what, uint64_t bytes) {
  const tuning& t = s.machine().device_context(0).tuned;
  switch (what) {
    case moved::allreduce:
      return t.allreduce.of(bytes);
    case moved::reduce:
      return t.reduce.of(bytes);
    case moved::broadcast:
      return t.broadcast.of(bytes);
    default:
      return t.spread.of(bytes);
  }
}

fault graph_point(gpu_session& s, vectors v, uint64_t elements) {
  const std::string what = "graph, " + std::to_string(elements) + " elements";
  const uint64_t bytes = elements * sizeof(float);
  const int length = bytes >= (4u << 20) ? 10 : 200;
  v.elements = elements;
  GGAS_GPU_TRY(check_every_call(s, v, length, what));
  fill_vectors(s, v);
  GGAS_GPU_TRY(s.run(what));
  std::vector<double> samples;
  const auto call = [&](int node, uint64_t i) { return queue_call(s, node, v, i); };
  GGAS_GPU_TRY(time_graph(s, length, s.runs(), what, call, samples));
  GGAS_GPU_TRY(check_last(s, v, length, what));
  const tuning::launch shape = usual_launch(s, v.what, bytes);
  s.emit({.variant = "graph",
          .params = {{"elements", elements},
                     {"bytes", bytes},
                     {"blocks", shape.blocks},
                     {"threads", shape.threads},
                     {"method", "graph"}},
          .metric = "time",
          .unit = "ns",
          .samples = samples,
          .limit = floor_of(s, v.what, bytes)});
  return {};
}

fault graph_points(gpu_session& s, moved what, const std::vector<unsigned>& log2_sizes) {
  const uint64_t most = uint64_t{1} << log2_sizes.back(), all = static_cast<uint64_t>(s.nodes());
  const uint64_t in = elements_in(what, most, s.nodes()), out = many_out(what) ? most * all : most;
  GGAS_GPU_TRY(start(s, (in + out) * sizeof(float) + (4u << 20)));
  const vectors v = place_vectors(s, what, most);
  for (const unsigned k : log2_sizes) GGAS_GPU_TRY(graph_point(s, v, uint64_t{1} << k));
  return {};
}

// As far as NCCL is measured (benchmarks/compare).
const std::vector<unsigned> moving_sizes = {0, 10, 14, 16, 20, 22, 24};

}  // namespace

fault run_allreduce_graph(gpu_session& s) { return graph_points(s, moved::allreduce, {0, 10, 14, 18, 22, 25}); }
fault run_reduce_graph(gpu_session& s) { return graph_points(s, moved::reduce, moving_sizes); }
fault run_broadcast_graph(gpu_session& s) { return graph_points(s, moved::broadcast, moving_sizes); }
fault run_allgather_graph(gpu_session& s) { return graph_points(s, moved::allgather, moving_sizes); }
fault run_alltoall_graph(gpu_session& s) { return graph_points(s, moved::alltoall, moving_sizes); }
fault run_reducescatter_graph(gpu_session& s) { return graph_points(s, moved::reducescatter, moving_sizes); }
fault run_gather_graph(gpu_session& s) { return graph_points(s, moved::gather, moving_sizes); }
fault run_scatter_graph(gpu_session& s) { return graph_points(s, moved::scatter, moving_sizes); }
fault run_permute_graph(gpu_session& s) { return graph_points(s, moved::permute, moving_sizes); }
fault run_scan_graph(gpu_session& s) { return graph_points(s, moved::scan, {0, 10, 14, 16}); }

fault run_barrier_graph(gpu_session& s) {
  constexpr int length = 200;
  GGAS_GPU_TRY(start(s, 1u << 20));
  const uint64_t status = s.data_offset();
  for (const bool sync : {false, true}) {
    const std::string what = sync ? "graph, sync" : "graph, barrier";
    const auto call = [&](int node, uint64_t) {
      const stream_report report{s.wait_ns(), reinterpret_cast<uint64_t*>(s.segment(node) + status)};
      return sync ? sync_on_stream(s.machine(), node, report) : barrier_on_stream(s.machine(), node, report);
    };
    std::vector<double> samples;
    GGAS_GPU_TRY(time_graph(s, length, s.runs(), what, call, samples));
    GGAS_GPU_TRY(check_status(s, status, what));
    s.emit({.variant = "graph",
            .params = {{"blocks", 1}, {"threads", 32}, {"method", sync ? "sync_graph" : "barrier_graph"}},
            .metric = "latency",
            .unit = "ns",
            .samples = samples,
            .limit = s.nodes() > 1 ? s.limits().link_floor(1) : std::nullopt});
  }
  return {};
}

}  // namespace ggas::bench
