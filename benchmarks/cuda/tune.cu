// SPDX-License-Identifier: Apache-2.0
// Measures every method of allreduce, in running kernels and in graphs, and picks the best by size.
#include "benchmarks/cuda/tune.hpp"

#include <cstdio>

#include "benchmarks/cuda/allreduce_rig.cuh"
#include "benchmarks/cuda/graphs.cuh"

namespace ggas::bench {

namespace {

constexpr uint64_t largest = 128u << 20;  // bytes

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// A method called in a kernel, ns.
fault time_in_kernel(gpu_session& s, uint64_t bytes, unsigned blocks, ggas_method method, double& ns) {
  std::vector<double> samples;
  const bool grid = blocks > 1;
  GGAS_GPU_TRY(time_allreduce(s, {bytes / sizeof(float), grid, method, blocks, 256}, 3, samples));
  ns = median(samples);
  return {};
}

// Methods called in a kernel, in the order in which longer vectors want them: doubles the size until one is no longer
// better than those behind it, and so on.
fault tune_in_kernel(gpu_session& s, bool grid, tuning::limits& out) {
  constexpr int count = 4;
  constexpr ggas_method methods[count] = {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push};
  const uint64_t most = grid ? largest / 2 : 16u << 20, most_lines = grid ? 4u << 20 : 256u << 10;
  uint64_t limits[count - 1] = {};
  int first = 0;  // which of the methods is still in the running
  for (uint64_t bytes = 256; bytes <= most && first < count - 1; bytes *= 2) {
    double time[count] = {};
    std::printf("  %s %9llu bytes:", grid ? "grid " : "block", static_cast<unsigned long long>(bytes));
    const unsigned blocks = !grid ? 1 : bytes > most_lines ? 128 : 64;
    for (int m = bytes > most_lines ? 2 : 0; m < count; ++m) {
      GGAS_GPU_TRY(time_in_kernel(s, bytes, blocks, methods[m], time[m]));
      std::printf(" %8.0f", time[m]);
    }
    std::printf(" ns\n");
    if (bytes > most_lines) first = std::max(first, 2);
    while (first < count - 1 && time[first] > 1.02 * *std::min_element(time + first + 1, time + count)) ++first;
    for (int m = first; m < count - 1; ++m) limits[m] = bytes;
  }
  out = {limits[0], limits[1], first < count - 1 ? uint64_t{tuning::any} : limits[2]};
  return {};
}

// Time of one node of a captured graph; the sums are checked.
fault time_graph(gpu_session& s, uint64_t bytes, const tuning::launch& l, double& ns) {
  const std::string what = "graph, " + std::to_string(bytes) + " bytes, method " + std::to_string(l.method) + ", " +
                           std::to_string(l.blocks) + " x " + std::to_string(l.threads) + " threads";
  constexpr unsigned check_blocks = 256, check_threads = 256;
  const int calls = bytes > (1u << 20) ? 4 : 40;
  layout_plan room(s.data_offset());
  const uint64_t status = room.place<uint64_t>(1);
  exchange_args a{};
  a.what = moved::allreduce;
  a.elements = bytes / sizeof(float);
  a.outcomes = room.place<outcome>(check_blocks * check_threads);
  a.input = room.place<float>(elements_in(a.what, largest / sizeof(float), s.nodes()));
  a.output = room.place<float>(largest / sizeof(float));
  a.seed = s.seed();
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, status, sizeof(uint64_t), 0);
  clear_outcomes(s, a.outcomes, check_blocks * check_threads);
  launch_all(s, check_blocks, check_threads, exchange_fill, a);
  node_graphs graphs(s);
  graphs.capture([&](int node) {
    char* const mine = s.machine().segment(node);
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < calls && e == cudaSuccess; ++i) {
      e = launch_dependent(s.machine(), node, l.blocks, l.threads,
                           detail::allreduce_kernel_for<float>(static_cast<ggas_method>(l.method)),
                           reinterpret_cast<float*>(mine + a.output), reinterpret_cast<const float*>(mine + a.input),
                           a.elements, ggas_sum, static_cast<ggas_method>(l.method),
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
  launch_all(s, check_blocks, check_threads, exchange_check, a);
  GGAS_GPU_TRY(s.run(what));
  for (int node = 0; node < s.nodes(); ++node) {
    if (const auto found = s.read<uint64_t>(node, status, 1)[0]; found != ggas_ok)
      return {what + ": " + ggas_status_text(static_cast<ggas_status>(found))};
  }
  return check_all_outcomes(s, a.outcomes, check_blocks * check_threads, what);
}

// Worth a try.
bool has_hope(ggas_method method, uint64_t bytes, unsigned blocks) {
  if (bytes > (32u << 10) * blocks && blocks < 16) return false;
  switch (method) {
    case ggas_direct:
      return bytes >= (32u << 10);
    case ggas_push:
      return bytes >= (1u << 20) && blocks >= 32;
    case ggas_read:
      return bytes >= (32u << 10) && bytes <= (2u << 20);
    case ggas_tree:
      return bytes <= (64u << 10);
    default:
      return bytes <= (2u << 20);
  }
}

// The best launch for vectors of `bytes`.
fault tune_launch(gpu_session& s, uint64_t bytes, tuning::launch& best) {
  double least = 0;
  for (const ggas_method method : {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree}) {
    for (const unsigned blocks : {1u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      if (!has_hope(method, bytes, blocks)) continue;
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
  GGAS_GPU_TRY(start(s, 2 * largest + (16u << 20)));
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
