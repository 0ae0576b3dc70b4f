// SPDX-License-Identifier: Apache-2.0
// allreduce as a node of a CUDA graph: many of them in one graph, time for each.
#include "benchmarks/cuda/graphs.cuh"
#include "benchmarks/kernels/exchange.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t most_elements = 32u << 20;

constexpr unsigned blocks = 256, threads = 256;  // of filling and checking

struct vectors : exchange_args {
  uint64_t status;  // offset of the word of the on-stream calls
};

void fill(gpu_session& s, const vectors& v) {
  clear_outcomes(s, v.outcomes, blocks * threads);
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, v.status, sizeof(uint64_t), 0);
  launch_all(s, blocks, threads, exchange_fill, v);
}

fault check(gpu_session& s, const vectors& v, const std::string& what) {
  launch_all(s, blocks, threads, exchange_check, v);
  GGAS_GPU_TRY(s.run(what));
  for (int node = 0; node < s.nodes(); ++node) {
    const auto status = static_cast<ggas_status>(s.read<uint64_t>(node, v.status, 1)[0]);
    if (status != ggas_ok) return {what + ": node " + std::to_string(node) + ": " + ggas_status_text(status)};
  }
  return check_all_outcomes(s, v.outcomes, blocks * threads, what);
}

// A member sends and gets (n - 1) / n of the vector twice, and what it gets has come over a link.
std::optional<limit> link_floor(gpu_session& s, uint64_t bytes) {
  constexpr double hop_ns = 600;  // half a round trip of stores over NVLink 4
  const auto ceiling = s.limits().link_ceiling();
  if (!ceiling || s.nodes() == 1) return {};
  const double n = s.nodes();
  const double moving_ns = 2 * (n - 1) / n * double(bytes) * 1e9 / ceiling->value;
  if (moving_ns < hop_ns) return limit{hop_ns, false, "one hop of 0.6 us"};
  return limit{moving_ns, false, "links: 2 (n - 1) / n of the vector"};
}

fault graph_point(gpu_session& s, vectors v, uint64_t elements) {
  const std::string what = "graph, " + std::to_string(elements) + " elements";
  const uint64_t bytes = elements * sizeof(float);
  const int nodes_in_graph = bytes > (4u << 20) ? 10 : 200;
  v.elements = elements;
  v.rounds = static_cast<uint64_t>(nodes_in_graph) - 1;  // behind the first one
  fill(s, v);
  GGAS_GPU_TRY(s.run(what));
  node_graphs graphs(s);
  graphs.capture([&](int node) {
    char* const mine = s.machine().segment(node);
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < nodes_in_graph && e == cudaSuccess; ++i) {
      e = allreduce_on_stream(s.machine(), node, reinterpret_cast<float*>(mine + v.output),
                              reinterpret_cast<const float*>(mine + v.input) + place_of(static_cast<uint64_t>(i)),
                              elements, ggas_sum, {s.wait_ns(), reinterpret_cast<uint64_t*>(mine + v.status)});
    }
    return e;
  });
  std::vector<double> samples;
  for (int i = 0; i <= s.runs(); ++i) {
    double ns = 0;
    GGAS_GPU_TRY(graphs.run(what, ns));
    if (i > 0) samples.push_back(ns / nodes_in_graph);  // the first one warms up
  }
  GGAS_GPU_TRY(check(s, v, what));
  s.emit({.variant = "auto",
          .params = {{"elements", elements}, {"bytes", bytes}, {"method", "graph"}},
          .metric = "time",
          .unit = "ns",
          .samples = samples,
          .limit = link_floor(s, bytes)});
  return {};
}

}  // namespace

fault run_allreduce_graph(gpu_session& s) {
  GGAS_GPU_TRY(start(s, 2 * most_elements * sizeof(float) + (4u << 20)));
  layout_plan room(s.data_offset());
  vectors v{};
  v.what = moved::allreduce;
  v.seed = s.seed();
  v.outcomes = room.place<outcome>(blocks * threads);
  v.status = room.place<uint64_t>(1);
  v.input = room.place<float>(elements_in(v.what, most_elements, s.nodes()));
  v.output = room.place<float>(most_elements);
  for (const uint64_t k : {0u, 10u, 14u, 18u, 22u, 25u}) GGAS_GPU_TRY(graph_point(s, v, uint64_t{1} << k));
  return {};
}

}  // namespace ggas::bench
