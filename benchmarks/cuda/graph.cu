// SPDX-License-Identifier: Apache-2.0
// allreduce as a node of a CUDA graph: many of them in one graph, time for each.
#include "benchmarks/cuda/graphs.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t most_elements = 32u << 20;

struct vectors {
  uint64_t input, output, elements, wrong, status, seed;
};

// Small whole numbers: sums are exact.
__device__ float element(const vectors& v, int node, uint64_t i) {
  return static_cast<float>(pattern(v.seed, static_cast<uint64_t>(node), i) % 1024);
}

__global__ void fill_vectors(vectors v) {
  for (uint64_t i = global_thread(); i < v.elements; i += global_threads()) {
    own<float>(v.input)[i] = element(v, ggas_node(), i);
    own<float>(v.output)[i] = -1;
  }
  if (global_thread() == 0) own<uint64_t>(v.wrong)[0] = own<uint64_t>(v.status)[0] = 0;
}

__global__ void check_vectors(vectors v) {
  for (uint64_t i = global_thread(); i < v.elements; i += global_threads()) {
    float sum = 0;
    for (int node = 0; node < ggas_nodes(); ++node) sum += element(v, node, i);
    if (own<float>(v.output)[i] != sum) detail::add_gpu(own<uint64_t>(v.wrong), 1);
  }
}

fault check(gpu_session& s, const vectors& v, const std::string& what) {
  launch_all(s, 256, 256, check_vectors, v);
  GGAS_GPU_TRY(s.run(what));
  for (int node = 0; node < s.nodes(); ++node) {
    const auto status = static_cast<ggas_status>(s.read<uint64_t>(node, v.status, 1)[0]);
    const uint64_t wrong = s.read<uint64_t>(node, v.wrong, 1)[0];
    const std::string where = what + ": node " + std::to_string(node) + ": ";
    if (status != ggas_ok) return {where + ggas_status_text(status)};
    if (wrong) return {where + std::to_string(wrong) + " wrong values"};
  }
  return {};
}

// A member sends and gets (n - 1) / n of the vector twice.
std::optional<limit> link_floor(gpu_session& s, uint64_t bytes) {
  const auto ceiling = s.limits().link_ceiling();
  if (!ceiling) return {};
  const double n = s.nodes();
  return limit{2 * (n - 1) / n * double(bytes) * 1e9 / ceiling->value, false, "links: 2 (n - 1) / n of the vector"};
}

fault graph_point(gpu_session& s, vectors v, uint64_t elements) {
  const std::string what = "graph, " + std::to_string(elements) + " elements";
  const uint64_t bytes = elements * sizeof(float);
  const int nodes_in_graph = bytes > (4u << 20) ? 10 : 200;
  v.elements = elements;
  launch_all(s, 256, 256, fill_vectors, v);
  GGAS_GPU_TRY(s.run(what));
  node_graphs graphs(s);
  graphs.capture([&](int node) {
    char* const mine = s.machine().segment(node);
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < nodes_in_graph && e == cudaSuccess; ++i) {
      e = allreduce_on_stream(s.machine(), node, reinterpret_cast<float*>(mine + v.output),
                              reinterpret_cast<const float*>(mine + v.input), elements, ggas_sum,
                              {s.wait_ns(), reinterpret_cast<uint64_t*>(mine + v.status)});
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
  GGAS_GPU_TRY(start(s, 2 * most_elements * sizeof(float) + (1u << 20)));
  layout_plan room(s.data_offset());
  vectors v{};
  v.seed = s.seed();
  v.wrong = room.place<uint64_t>(1);
  v.status = room.place<uint64_t>(1);
  v.input = room.place<float>(most_elements);
  v.output = room.place<float>(most_elements);
  for (const uint64_t k : {0u, 10u, 14u, 18u, 22u, 25u}) GGAS_GPU_TRY(graph_point(s, v, uint64_t{1} << k));
  return {};
}

}  // namespace ggas::bench
