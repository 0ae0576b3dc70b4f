// SPDX-License-Identifier: Apache-2.0
// Collectives of floats on a stream as nodes of graphs, for the benchmark and for the tuner. Included after rig.cuh.
#pragma once

#include <string>

#include "benchmarks/cuda/rigs/graphs.cuh"
#include "benchmarks/kernels/exchange.cuh"

namespace ggas::bench {
namespace {

constexpr unsigned check_blocks = 256, check_threads = 256;

struct vectors : exchange_args {
  uint64_t status;  // offset of the word of the on-stream calls
};

// Places for vectors of at most so many elements.
inline vectors place_vectors(gpu_session& s, moved what, uint64_t most) {
  layout_plan room(s.data_offset());
  vectors v{};
  v.what = what;
  v.seed = s.seed();
  v.outcomes = room.place<outcome>(check_blocks * check_threads);
  v.status = room.place<uint64_t>(1);
  v.input = room.place<float>(elements_in(what, most, s.nodes()));
  v.output = room.place<float>(many_out(what) ? most * static_cast<uint64_t>(s.nodes()) : most);
  return v;
}

inline void fill_vectors(gpu_session& s, const vectors& v) {
  for (int node = 0; node < s.nodes(); ++node) {
    s.fill(node, v.status, sizeof(uint64_t), 0);
    s.fill(node, v.outcomes, check_blocks * check_threads * sizeof(outcome), 0);
  }
  launch_all(s, check_blocks, check_threads, exchange_fill, v);
}

inline fault check_status(gpu_session& s, uint64_t offset, const std::string& what) {
  for (int node = 0; node < s.nodes(); ++node) {
    const auto status = static_cast<ggas_status>(s.read<uint64_t>(node, offset, 1)[0]);
    if (status != ggas_ok) return {what + ": node " + std::to_string(node) + ": " + ggas_status_text(status)};
  }
  return {};
}

// What calls have left: their status, and what exchange_count has found.
inline fault check_calls(gpu_session& s, const vectors& v, const std::string& what) {
  GGAS_GPU_TRY(check_status(s, v.status, what));
  return check_all_outcomes(s, v.outcomes, check_blocks * check_threads, what);
}
// The result of the last of so many calls.
inline fault check_last(gpu_session& s, const vectors& v, int calls, const std::string& what) {
  launch_all(s, check_blocks, check_threads, exchange_count, v, static_cast<uint64_t>(calls) - 1);
  GGAS_GPU_TRY(s.run(what));
  return check_calls(s, v, what);
}

// Call number `i`.
inline result<> queue_call(gpu_session& s, int node, const vectors& v, uint64_t i, const stream_shape& shape = {}) {
  cluster& c = s.machine();
  char* const mine = s.segment(node);
  auto* const to = reinterpret_cast<float*>(mine + v.output);
  const auto* const from = reinterpret_cast<const float*>(mine + v.input) + place_of(i);
  const stream_report report{s.wait_ns(), reinterpret_cast<uint64_t*>(mine + v.status)};
  switch (v.what) {
    case moved::broadcast:
      return broadcast_on_stream(c, node, to, from, v.elements, 0, report, shape);
    case moved::allgather:
      return allgather_on_stream(c, node, to, from, v.elements, report, shape);
    case moved::alltoall:
      return alltoall_on_stream(c, node, to, from, v.elements, report, shape);
    case moved::reduce:
      return reduce_on_stream(c, node, to, from, v.elements, ggas_sum, 0, report, shape);
    case moved::reducescatter:
      return reducescatter_on_stream(c, node, to, from, v.elements, ggas_sum, report, shape);
    case moved::gather:
      return gather_on_stream(c, node, to, from, v.elements, 0, report, shape);
    case moved::scatter:
      return scatter_on_stream(c, node, to, from, v.elements, 0, report, shape);
    case moved::permute:
      return permute_on_stream(c, node, to, from, v.elements, (node + 1) % s.nodes(), report, shape);
    case moved::scan:
      return scan_on_stream(c, node, to, from, v.elements, ggas_sum, ggas_scan_inclusive, report, shape);
    case moved::allreduce:
      break;
  }
  return allreduce_on_stream(c, node, to, from, v.elements, ggas_sum, report, shape);
}

// Times of a node of the graph, of so many nodes that call(node, i) queues; the first launch warms up.
template <class F>
fault time_graph(gpu_session& s, int length, int runs, const std::string& what, F call, std::vector<double>& samples) {
  node_graphs graphs(s);
  graphs.capture([&](int node) {
    result<> e;
    for (int i = 0; i < length && e; ++i) e = call(node, static_cast<uint64_t>(i));
    return e;
  });
  for (int i = 0; i <= runs; ++i) {
    double ns = 0;
    GGAS_GPU_TRY(graphs.run(what, ns));
    if (i > 0) samples.push_back(ns / length);
  }
  return {};
}

// Repeats the calls of such a graph in a second, untimed graph. Each call has other data and an overwritten
// destination, and every element of its result is checked before the next call.
inline fault check_every_call(gpu_session& s, vectors v, int length, const std::string& what) {
  fill_vectors(s, v);
  GGAS_GPU_TRY(s.run(what));
  const uint64_t seed = v.seed;
  std::vector<double> times;
  GGAS_GPU_TRY(time_graph(
      s, length, 0, what,
      [&](int node, uint64_t i) {
        v.seed = seed + i;
        launch_one(s, node, check_blocks, check_threads, exchange_fill, v);
        const stream_report report{s.wait_ns(), reinterpret_cast<uint64_t*>(s.segment(node) + v.status)};
        result<> e = barrier_on_stream(s.machine(), node, report);  // all destinations are overwritten
        if (e) e = queue_call(s, node, v, i);
        launch_one(s, node, check_blocks, check_threads, exchange_count, v, i);
        return e;
      },
      times));
  return check_calls(s, v, what);
}

}  // namespace
}  // namespace ggas::bench
