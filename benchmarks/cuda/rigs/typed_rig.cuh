// SPDX-License-Identifier: Apache-2.0
// Shared by the benchmarks of datatypes: memory, a timed graph of calls, a check of the data. Included after rig.cuh.
#pragma once

#include <memory>

#include "benchmarks/cuda/rigs/rig.cuh"
#include "benchmarks/cuda/rigs/typed_by_hand.cuh"
#include "ggas/typed_on_stream.cuh"

namespace ggas::bench {
namespace {

__global__ void fill_hashed(uint64_t* at, uint64_t words, uint64_t seed) {
  for (uint64_t i = global_thread(); i < words; i += global_threads()) at[i] = (i + seed) * 0x9e3779b97f4a7c15 ^ i >> 7;
}
__global__ void count_unequal(const uint64_t* a, const uint64_t* b, uint64_t words, uint64_t* unequal) {
  for (uint64_t i = global_thread(); i < words; i += global_threads())
    if (a[i] != b[i]) detail::add_gpu(unequal, 1);
}

// Offsets in every segment: items, a second area of that kind, two of packed data, a counter, committed datatypes.
class typed_memory {
 public:
  static constexpr uint64_t most_bytes = 64u << 20, types_bytes = 128u << 20;

  explicit typed_memory(gpu_session& s) : s_(s) {}
  ~typed_memory() {
    if (host) cudaFreeHost(host);
    if (places_) cudaFree(places_);
  }
  typed_memory(const typed_memory&) = delete;
  typed_memory& operator=(const typed_memory&) = delete;

  fault make() {
    GGAS_GPU_TRY(start(s_, 2 * room_ + 2 * most_bytes + (1u << 20) + types_bytes));
    items = s_.data_offset();
    target = items + room_;
    packed = target + room_;
    wanted = packed + most_bytes;
    counter = wanted + most_bytes;
    std::string why;
    memory_ = heap::create(heap_of(s_.machine(), counter + (1u << 20) - s_.data_offset()), why);
    if (!memory_) return {why};
    types_ = std::make_unique<type_space>(*memory_, writer_of(s_.machine()));
    s_.keep(cudaSetDevice(s_.machine().device(0)), "device");
    s_.keep(cudaMallocHost(&host, most_bytes), "pinned memory");
    for (int n = 0; n < s_.nodes(); ++n)
      launch_one(s_, n, 256, 256, fill_hashed, words(n, items), room_ / 8, s_.seed() + static_cast<uint64_t>(n));
    return s_.run("memory");
  }
  uint64_t room() const { return room_; }
  char* at(int node, uint64_t offset) { return s_.segment(node) + offset; }
  uint64_t* words(int node, uint64_t offset) { return reinterpret_cast<uint64_t*>(at(node, offset)); }
  fault commit(const datatype& t, ggas_type& handle, type_form form = type_form::automatic) {
    std::string why;
    handle = types_->commit(t, why, form);
    return {why};
  }
  void free(const ggas_type& t) { static_cast<void>(types_->free(t)); }
  // The places of a list, in memory of the first GPU.
  const int64_t* places_of(const typed_pattern& p) {
    s_.keep(cudaSetDevice(s_.machine().device(0)), "device");
    if (places_) s_.keep(cudaFree(places_), "places");
    places_ = nullptr;
    if (p.places.empty()) return nullptr;
    s_.keep(cudaMalloc(&places_, p.places.size() * 8), "places");
    s_.keep(cudaMemcpy(places_, p.places.data(), p.places.size() * 8, cudaMemcpyHostToDevice), "places");
    return places_;
  }
  // Fails if two areas that a node's GPU can access differ.
  fault expect_equal(int node, const char* a, const char* b, uint64_t bytes, const std::string& what) {
    s_.fill(node, counter, 8, 0);
    launch_one(s_, node, 256, 256, count_unequal, reinterpret_cast<const uint64_t*>(a),
               reinterpret_cast<const uint64_t*>(b), bytes / 8, words(node, counter));
    GGAS_GPU_TRY(s_.run(what));
    const uint64_t wrong = s_.read<uint64_t>(node, counter, 1)[0];
    return wrong ? fault{what + ": " + std::to_string(wrong) + " wrong words"} : fault{};
  }

  uint64_t items = 0, target = 0, packed = 0, wanted = 0, counter = 0;
  char* host = nullptr;

 private:
  gpu_session& s_;
  const uint64_t room_ = 1u << 30;  // for the Y-Z face of 512 x 512 x 512 doubles, also with --quick
  std::unique_ptr<heap> memory_;
  std::unique_ptr<type_space> types_;
  int64_t* places_ = nullptr;
};

// Times of a call of a node in a graph of several, ns; the first launch warms up. `calls`: 0: by their length.
template <class F>
fault time_calls(gpu_session& s, int node, uint64_t bytes, const std::string& what, F queue,
                 std::vector<double>& samples, int calls = 0) {
  if (calls == 0) calls = static_cast<int>(std::clamp<uint64_t>((64u << 20) / bytes, 1, 20));
  cudaStream_t const stream = s.machine().cuda_stream(node);
  cudaGraph_t graph{};
  cudaGraphExec_t made{};
  cudaEvent_t begin{}, end{};
  s.keep(cudaSetDevice(s.machine().device(node)), "device");
  s.keep(cudaEventCreate(&begin), "event");
  s.keep(cudaEventCreate(&end), "event");
  s.keep(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < calls; ++i) s.keep(queue(), what.c_str());
  s.keep(cudaStreamEndCapture(stream, &graph), "capture");
  s.keep(cudaGraphInstantiate(&made, graph, 0), "graph");
  GGAS_GPU_TRY(s.run(what));
  samples.clear();
  for (int i = 0; i <= s.runs(); ++i) {
    s.keep(cudaEventRecord(begin, stream), "event");
    s.keep(cudaGraphLaunch(made, stream), "graph");
    s.keep(cudaEventRecord(end, stream), "event");
    GGAS_GPU_TRY(s.run(what));
    float ms = 0;
    s.keep(cudaEventElapsedTime(&ms, begin, end), "event");
    if (i > 0) samples.push_back(double{ms} * 1e6 / calls);
  }
  s.keep(cudaGraphExecDestroy(made), "graph");
  s.keep(cudaGraphDestroy(graph), "graph");
  s.keep(cudaEventDestroy(begin), "event");
  s.keep(cudaEventDestroy(end), "event");
  return {};
}

double median_of(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Bytes a second of times, and times over another time.
void emit_bandwidth(gpu_session& s, const typed_pattern& p, const char* method, const std::vector<double>& ns,
                    std::optional<limit> bound) {
  std::vector<double> rates;
  for (const double t : ns) rates.push_back(static_cast<double>(p.bytes) * 1e9 / t);
  s.emit({.variant = p.name,
          .params = {{"bytes", p.bytes}, {"method", method}},
          .metric = "bandwidth",
          .unit = "B/s",
          .samples = rates,
          .limit = std::move(bound)});
}
void emit_ratio(gpu_session& s, const typed_pattern& p, const char* method, const std::vector<double>& ns,
                double compared, const char* metric = "time_over_hand") {
  std::vector<double> ratios;
  for (const double t : ns) ratios.push_back(t / compared);
  s.emit({.variant = p.name,
          .params = {{"bytes", p.bytes}, {"method", method}},
          .metric = metric,
          .unit = "1",
          .samples = ratios});
}

}  // namespace
}  // namespace ggas::bench
