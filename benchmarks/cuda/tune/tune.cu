// SPDX-License-Identifier: Apache-2.0
// Measures every method of allreduce in running kernels, and every collective on a stream by method, blocks and
// threads; picks the best by size.
#include "benchmarks/cuda/tune/tune.hpp"

#include <cstdio>

#include "benchmarks/cuda/rigs/allreduce_rig.cuh"
#include "benchmarks/cuda/rigs/collective_graphs.cuh"

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
// better than those after it, and so on.
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

// Time of a call in a captured graph; the result of the last one is checked. `v` has room for it.
fault time_call(gpu_session& s, vectors v, uint64_t bytes, const stream_shape& shape, double& ns) {
  const std::string what = "graph, collective " + std::to_string(static_cast<int>(v.what)) + ", " +
                           std::to_string(bytes) + " bytes, method " + std::to_string(shape.method) + ", " +
                           std::to_string(shape.blocks) + " x " + std::to_string(shape.threads) + " threads";
  const int calls = bytes > (1u << 20) ? 4 : 40;
  v.elements = bytes / sizeof(float);
  fill_vectors(s, v);
  std::vector<double> samples;
  const auto call = [&](int node, uint64_t i) { return queue_call(s, node, v, i, shape); };
  GGAS_GPU_TRY(time_graph(s, calls, 3, what, call, samples));
  ns = median(samples);
  return check_last(s, v, calls, what);
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
    case ggas_auto:
      return blocks == 1 || bytes >= 128 * blocks;
    default:
      return bytes <= (2u << 20);
  }
}

// The best launch for vectors of `bytes`.
fault tune_launch(gpu_session& s, const vectors& v, const std::vector<ggas_method>& methods, uint64_t bytes,
                  tuning::launch& best) {
  double least = 0;
  for (const ggas_method method : methods) {
    for (const unsigned blocks : {1u, 4u, 8u, 16u, 32u, 64u, 128u}) {
      if (!has_hope(method, bytes, blocks)) continue;
      for (const unsigned threads : {128u, 256u, 512u}) {
        double ns = 0;
        GGAS_GPU_TRY(time_call(s, v, bytes, {blocks, threads, method}, ns));
        if (least > 0 && ns >= least) continue;
        least = ns;
        best = {0, method == ggas_auto ? 0u : static_cast<uint32_t>(method), blocks, threads};
      }
    }
  }
  std::printf("  collective %d %9llu bytes: method %u, %3u x %3u: %8.0f ns\n", static_cast<int>(v.what),
              static_cast<unsigned long long>(bytes), best.method, best.blocks, best.threads, least);
  std::fflush(stdout);
  return {};
}

// A row for vectors up to `bytes`, measured at `at`.
struct tuned_row {
  uint64_t bytes, at;
};
constexpr tuned_row reductions[tuning::rows] = {
    {1u << 10, 256},         {8u << 10, 4u << 10},     {32u << 10, 16u << 10},
    {128u << 10, 64u << 10}, {512u << 10, 256u << 10}, {2u << 20, 1u << 20},
    {8u << 20, 4u << 20},    {32u << 20, 16u << 20},   {tuning::any, largest}};
constexpr tuned_row moves[tuning::rows] = {{128, 64},
                                           {1u << 10, 512},
                                           {4u << 10, 4u << 10},
                                           {16u << 10, 16u << 10},
                                           {128u << 10, 64u << 10},
                                           {512u << 10, 256u << 10},
                                           {2u << 20, 1u << 20},
                                           {8u << 20, 4u << 20},
                                           {tuning::any, 16u << 20}};

fault tune_rows(gpu_session& s, moved what, const std::vector<ggas_method>& methods,
                const tuned_row (&rows)[tuning::rows], tuning::launches& out) {
  const vectors v = place_vectors(s, what, rows[tuning::rows - 1].at / sizeof(float));
  for (int i = 0; i < tuning::rows; ++i) {
    GGAS_GPU_TRY(tune_launch(s, v, methods, rows[i].at, out.row[i]));
    out.row[i].bytes = rows[i].bytes;
  }
  return {};
}

// The kernels here see the contexts of the cluster, with another tuning.
fault bind_tuning(gpu_session& s, const tuning& t) {
  for (int node = 0; node < s.nodes(); ++node) {
    context c = s.machine().device_context(node);
    c.tuned = t;
    s.keep(cudaSetDevice(s.machine().device(node)), "cudaSetDevice");
    s.keep(set_device_context(c, s.machine().cuda_stream(node)), "device context");
  }
  return s.run("contexts");
}

// From which size on leaves of a broadcast forward: doubles the size until that is clearly quicker. Shorter ones go in
// lines.
fault tune_root_sends(gpu_session& s, tuning& t) {
  t = tuning::usual();
  if (s.nodes() < 3) return {};
  constexpr uint64_t most = 8u << 20;
  const vectors v = place_vectors(s, moved::broadcast, most / sizeof(float));
  const auto beside = [&](uint64_t bytes) { return bytes * static_cast<uint64_t>(s.nodes() - 2); };
  t.root_sends = beside(most);
  for (uint64_t bytes = 256u << 10; bytes <= most; bytes *= 2) {
    const stream_shape shape{64, 512};
    tuning way = t;
    double by_root = 0, by_leaves = 0;
    way.root_sends = tuning::any;
    GGAS_GPU_TRY(bind_tuning(s, way));
    GGAS_GPU_TRY(time_call(s, v, bytes, shape, by_root));
    way.root_sends = 0;
    GGAS_GPU_TRY(bind_tuning(s, way));
    GGAS_GPU_TRY(time_call(s, v, bytes, shape, by_leaves));
    std::printf("  broadcast %9llu bytes: by the root %8.0f, by leaves %8.0f ns\n",
                static_cast<unsigned long long>(bytes), by_root, by_leaves);
    if (by_leaves > 0.97 * by_root) continue;
    t.root_sends = beside(bytes / 2);
    break;
  }
  return bind_tuning(s, t);
}

}  // namespace

fault tune(gpu_session& s, tuning& t) {
  const uint64_t spread = (static_cast<uint64_t>(s.nodes()) + 1) * moves[tuning::rows - 1].at;
  GGAS_GPU_TRY(start(s, std::max(2 * largest, spread) + (16u << 20)));
  GGAS_GPU_TRY(tune_root_sends(s, t));
  GGAS_GPU_TRY(tune_in_kernel(s, false, t.block));
  GGAS_GPU_TRY(tune_in_kernel(s, true, t.grid));
  const std::vector<ggas_method> all = {ggas_one_shot, ggas_two_shot, ggas_direct, ggas_push, ggas_read, ggas_tree};
  GGAS_GPU_TRY(tune_rows(s, moved::allreduce, all, reductions, t.allreduce));
  GGAS_GPU_TRY(tune_rows(s, moved::reduce, {ggas_one_shot, ggas_direct, ggas_read, ggas_tree}, reductions, t.reduce));
  GGAS_GPU_TRY(tune_rows(s, moved::broadcast, {ggas_auto}, moves, t.broadcast));
  return tune_rows(s, moved::allgather, {ggas_auto}, moves, t.spread);
}

}  // namespace ggas::bench
