// SPDX-License-Identifier: Apache-2.0
// Collectives as nodes of a CUDA graph: many of them in one graph, time for each.
#include "benchmarks/cuda/graphs.cuh"
#include "benchmarks/kernels/exchange.cuh"

namespace ggas::bench {

namespace {

constexpr unsigned blocks = 256, threads = 256;  // of filling and checking

struct vectors : exchange_args {
  uint64_t status;  // offset of the word of the on-stream calls
};

void fill(gpu_session& s, const vectors& v) {
  clear_outcomes(s, v.outcomes, blocks * threads);
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, v.status, sizeof(uint64_t), 0);
  launch_all(s, blocks, threads, exchange_fill, v);
}

fault check_status(gpu_session& s, uint64_t offset, const std::string& what) {
  for (int node = 0; node < s.nodes(); ++node) {
    const auto status = static_cast<ggas_status>(s.read<uint64_t>(node, offset, 1)[0]);
    if (status != ggas_ok) return {what + ": node " + std::to_string(node) + ": " + ggas_status_text(status)};
  }
  return {};
}

fault check(gpu_session& s, const vectors& v, const std::string& what) {
  launch_all(s, blocks, threads, exchange_check, v);
  GGAS_GPU_TRY(s.run(what));
  GGAS_GPU_TRY(check_status(s, v.status, what));
  return check_all_outcomes(s, v.outcomes, blocks * threads, what);
}

// What a GPU has to send or get at least, in parts of a vector: an allreduce (n - 1) / n twice, what the root of a
// broadcast or a reduce sends or gets once, a part of each other one.
double least_parts(moved what, double nodes) {
  if (what == moved::allreduce) return 2 * (nodes - 1) / nodes;
  return what == moved::broadcast || what == moved::reduce ? 1 : nodes - 1;
}

std::optional<limit> floor_of(gpu_session& s, moved what, uint64_t bytes) {
  if (s.nodes() == 1) return {};
  return s.limits().link_floor(1, least_parts(what, s.nodes()) * static_cast<double>(bytes));
}

// Node `i` of the graph.
cudaError_t queue(gpu_session& s, int node, const vectors& v, uint64_t i) {
  cuda_cluster& c = s.machine();
  char* const mine = c.segment(node);
  auto* const to = reinterpret_cast<float*>(mine + v.output);
  const auto* const from = reinterpret_cast<const float*>(mine + v.input) + place_of(i);
  const stream_report report{s.wait_ns(), reinterpret_cast<uint64_t*>(mine + v.status)};
  switch (v.what) {
    case moved::broadcast:
      return broadcast_on_stream(c, node, to, from, v.elements, 0, report);
    case moved::allgather:
      return allgather_on_stream(c, node, to, from, v.elements, report);
    case moved::alltoall:
      return alltoall_on_stream(c, node, to, from, v.elements, report);
    case moved::reduce:
      return reduce_on_stream(c, node, to, from, v.elements, ggas_sum, 0, report);
    case moved::allreduce:
      break;
  }
  return allreduce_on_stream(c, node, to, from, v.elements, ggas_sum, report);
}

// Times of a node of the graph, of so many nodes that call(node, i) queues.
template <class F>
fault time_graph(gpu_session& s, int length, const std::string& what, F call, std::vector<double>& samples) {
  node_graphs graphs(s);
  graphs.capture([&](int node) {
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < length && e == cudaSuccess; ++i) e = call(node, static_cast<uint64_t>(i));
    return e;
  });
  for (int i = 0; i <= s.runs(); ++i) {
    double ns = 0;
    GGAS_GPU_TRY(graphs.run(what, ns));
    if (i > 0) samples.push_back(ns / length);  // the first one warms up
  }
  return {};
}

fault graph_point(gpu_session& s, vectors v, uint64_t elements) {
  const std::string what = "graph, " + std::to_string(elements) + " elements";
  const uint64_t bytes = elements * sizeof(float);
  const int length = bytes >= (4u << 20) ? 10 : 200;
  v.elements = elements;
  v.rounds = static_cast<uint64_t>(length) - 1;  // behind the first one
  fill(s, v);
  GGAS_GPU_TRY(s.run(what));
  std::vector<double> samples;
  const auto call = [&](int node, uint64_t i) { return queue(s, node, v, i); };
  GGAS_GPU_TRY(time_graph(s, length, what, call, samples));
  GGAS_GPU_TRY(check(s, v, what));
  s.emit({.variant = "graph",
          .params = {{"elements", elements}, {"bytes", bytes}, {"method", "graph"}},
          .metric = "time",
          .unit = "ns",
          .samples = samples,
          .limit = floor_of(s, v.what, bytes)});
  return {};
}

fault graph_points(gpu_session& s, moved what, const std::vector<unsigned>& log2_sizes) {
  const uint64_t most = uint64_t{1} << log2_sizes.back(), all = static_cast<uint64_t>(s.nodes());
  const bool many_out = what == moved::allgather || what == moved::alltoall;
  vectors v{};
  v.what = what;
  v.seed = s.seed();
  const uint64_t in = elements_in(what, most, s.nodes()), out = many_out ? most * all : most;
  GGAS_GPU_TRY(start(s, (in + out) * sizeof(float) + (4u << 20)));
  layout_plan room(s.data_offset());
  v.outcomes = room.place<outcome>(blocks * threads);
  v.status = room.place<uint64_t>(1);
  v.input = room.place<float>(in);
  v.output = room.place<float>(out);
  for (const unsigned k : log2_sizes) GGAS_GPU_TRY(graph_point(s, v, uint64_t{1} << k));
  return {};
}

// As far as NCCL is measured (benchmarks/compare).
const std::vector<unsigned> moving_sizes = {0, 10, 14, 16, 20};

}  // namespace

fault run_allreduce_graph(gpu_session& s) { return graph_points(s, moved::allreduce, {0, 10, 14, 18, 22, 25}); }
fault run_reduce_graph(gpu_session& s) { return graph_points(s, moved::reduce, moving_sizes); }
fault run_broadcast_graph(gpu_session& s) { return graph_points(s, moved::broadcast, moving_sizes); }
fault run_allgather_graph(gpu_session& s) { return graph_points(s, moved::allgather, moving_sizes); }
fault run_alltoall_graph(gpu_session& s) { return graph_points(s, moved::alltoall, moving_sizes); }

fault run_barrier_graph(gpu_session& s) {
  constexpr int length = 200;
  GGAS_GPU_TRY(start(s, 1u << 20));
  const uint64_t status = s.data_offset();
  for (const bool sync : {false, true}) {
    const std::string what = sync ? "graph, sync" : "graph, barrier";
    const auto call = [&](int node, uint64_t) {
      const stream_report report{s.wait_ns(), reinterpret_cast<uint64_t*>(s.machine().segment(node) + status)};
      return sync ? sync_on_stream(s.machine(), node, report) : barrier_on_stream(s.machine(), node, report);
    };
    std::vector<double> samples;
    GGAS_GPU_TRY(time_graph(s, length, what, call, samples));
    GGAS_GPU_TRY(check_status(s, status, what));
    s.emit({.variant = "graph",
            .params = {{"threads", 32}, {"method", sync ? "sync_graph" : "barrier_graph"}},
            .metric = "latency",
            .unit = "ns",
            .samples = samples,
            .limit = s.limits().link_floor(1)});
  }
  return {};
}

}  // namespace ggas::bench
