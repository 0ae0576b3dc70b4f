// SPDX-License-Identifier: Apache-2.0
// Measures every method of allreduce, in running kernels and in graphs, and picks the best by size.
#include "benchmarks/cuda/tune.hpp"

#include <cstdio>

#include "benchmarks/cuda/allreduce_rig.cuh"
#include "benchmarks/cuda/graphs.cuh"

namespace ggas::bench {

namespace {

constexpr ggas_method methods[] = {ggas_one_shot, ggas_two_shot, ggas_direct};
constexpr uint64_t largest = 128u << 20;  // bytes

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Methods called in a kernel: doubles the size until one_shot, then two_shot is no longer the best.
fault tune_in_kernel(gpu_session& s, bool grid, tuning::limits& out) {
  const unsigned blocks = grid ? 32 : 1, threads = 256;
  bool one = true, two = true;
  out = {};
  for (uint64_t bytes = 256; two && bytes <= (4u << 20); bytes *= 2) {
    double time[3] = {};
    for (int m = 0; m < 3; ++m) {
      std::vector<double> samples;
      GGAS_GPU_TRY(time_allreduce(s, {bytes / sizeof(float), grid, methods[m], blocks, threads}, 3, samples));
      time[m] = median(samples);
    }
    std::printf("  %s %8llu bytes: one_shot %8.0f two_shot %8.0f direct %8.0f ns\n", grid ? "grid " : "block",
                static_cast<unsigned long long>(bytes), time[0], time[1], time[2]);
    one = one && time[0] <= std::min(time[1], time[2]);
    two = one || time[1] <= time[2];
    if (one) out.one_shot = bytes;
    if (two) out.two_shot = bytes;
  }
  return {};
}

// Time of one node of a captured graph.
fault time_graph(gpu_session& s, uint64_t bytes, const tuning::launch& l, double& ns) {
  const std::string what = "graph, " + std::to_string(bytes) + " bytes";
  const int calls = bytes > (1u << 20) ? 4 : 40;
  layout_plan room(s.data_offset());
  const uint64_t status = room.place<uint64_t>(1), input = room.place<char>(largest),
                 output = room.place<char>(largest);
  node_graphs graphs(s);
  graphs.capture([&](int node) {
    char* const mine = s.machine().segment(node);
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < calls && e == cudaSuccess; ++i) {
      e = launch_dependent(s.machine(), node, l.blocks, l.threads, detail::allreduce_kernel<float>,
                           reinterpret_cast<float*>(mine + output), reinterpret_cast<const float*>(mine + input),
                           bytes / sizeof(float), ggas_sum, static_cast<ggas_method>(l.method),
                           stream_report{s.wait_ns(), reinterpret_cast<uint64_t*>(mine + status)});
    }
    return e;
  });
  std::vector<double> samples;
  for (int i = 0; i < 4; ++i) {
    double all = 0;
    GGAS_GPU_TRY(graphs.run(what, all));
    if (i > 0) samples.push_back(all / calls);  // the first one warms up
  }
  ns = median(samples);
  for (int node = 0; node < s.nodes(); ++node) {
    if (const auto found = s.read<uint64_t>(node, status, 1)[0]; found != ggas_ok)
      return {what + ": " + ggas_status_text(static_cast<ggas_status>(found))};
  }
  return {};
}

// The best launch for vectors of `bytes`.
fault tune_launch(gpu_session& s, uint64_t bytes, tuning::launch& best) {
  double least = 0;
  for (const ggas_method method : methods) {
    if (method == ggas_direct ? bytes < (32u << 10) : bytes > (2u << 20)) continue;  // hopeless
    for (const unsigned blocks : {1u, 4u, 8u, 16u, 32u, 64u}) {
      if (bytes > (32u << 10) * blocks && blocks < 16) continue;
      for (const unsigned threads : {128u, 256u, 512u}) {
        const tuning::launch l{0, static_cast<uint32_t>(method), blocks, threads};
        double ns = 0;
        GGAS_GPU_TRY(time_graph(s, bytes, l, ns));
        if (least > 0 && ns >= least) continue;
        least = ns;
        best = l;
      }
    }
  }
  std::printf("  graph %9llu bytes: method %u, %2u x %3u: %8.0f ns\n", static_cast<unsigned long long>(bytes),
              best.method, best.blocks, best.threads, least);
  return {};
}

}  // namespace

fault tune(gpu_session& s, tuning& t) {
  GGAS_GPU_TRY(start(s, 2 * largest + (8u << 20)));
  GGAS_GPU_TRY(tune_in_kernel(s, false, t.block));
  GGAS_GPU_TRY(tune_in_kernel(s, true, t.grid));
  // A row for vectors up to `bytes`, measured at `at`.
  constexpr struct {
    uint64_t bytes, at;
  } rows[tuning::rows] = {{1u << 10, 256},         {8u << 10, 4u << 10},     {32u << 10, 16u << 10},
                          {128u << 10, 64u << 10}, {512u << 10, 256u << 10}, {4u << 20, 1u << 20},
                          {32u << 20, 16u << 20},  {tuning::any, largest}};
  for (int i = 0; i < tuning::rows; ++i) {
    GGAS_GPU_TRY(tune_launch(s, rows[i].at, t.on_stream[i]));
    t.on_stream[i].bytes = rows[i].bytes;
  }
  return {};
}

}  // namespace ggas::bench
