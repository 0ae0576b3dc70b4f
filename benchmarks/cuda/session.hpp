// SPDX-License-Identifier: Apache-2.0
// The program as a benchmark on real GPUs sees it: its cluster, the options, the limits of the hardware, and a place
// for results. C++20 and few headers, because nvcc reads it; files with kernels include rig.cuh.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "benchmarks/harness/bounds.hpp"
#include "benchmarks/harness/description.hpp"
#include "benchmarks/harness/run_facts.hpp"
#include "ggas/cluster.hpp"

namespace ggas::bench {

// No failure, or a text that describes it.
struct [[nodiscard]] fault {
  std::string text;
  bool bad_input = false;  // the user asked for what cannot be: exit status 2
  explicit operator bool() const { return !text.empty(); }
};

// Returns the fault of an expression from the enclosing function.
#define GGAS_GPU_TRY(expression)                                   \
  do {                                                             \
    if (::ggas::bench::fault fault_ = (expression)) return fault_; \
  } while (0)

struct gpu_options {
  int nodes = 0;
  bool quick = false;
  uint64_t seed = 1;
  run_facts run = {};
  uint64_t timeout_ns = 20'000'000'000;                       // of one point, real time
  std::vector<std::string> loads = {};                        // of energy; empty: all, or with `quick` most
  std::function<void(const std::string& csv)> on_power = {};  // gets power over time (energy); may be empty
};

// The limits of the hardware, in bytes/s of one GPU in one direction; 0: not known.
struct gpu_limits {
  double link_bytes_per_s = 0;     // all its links to other GPUs together, as their signalling rate
  double payload_bytes_per_s = 0;  // of that, what is left for data: docs/benchmarks.md
  double memory_bytes_per_s = 0;   // its own memory
  double hop_ns = 0;               // from a store until a polling thread of another GPU sees it; 0: not known
  int multiprocessors = 0;
  std::string link;  // "NVLink 4 x 18", "PCIe 5 x16"

  // A ceiling from the links for a bandwidth of one GPU; nothing if it is not known.
  std::optional<limit> link_ceiling(double share = 1) const {
    if (payload_bytes_per_s <= 0) return {};
    return limit{payload_bytes_per_s * share, true, "links: data of " + link};
  }
  // A lower bound for a time in ns: `hops` in sequence, and `bytes` that one GPU sends or receives. No value if the
  // links are not known, or if the time of a hop without bytes is not known.
  std::optional<limit> link_floor(double hops, double bytes = 0) const {
    if (payload_bytes_per_s <= 0) return {};
    const double ns = hops * hop_ns + bytes / payload_bytes_per_s * 1e9;
    if (ns <= 0) return {};
    return limit{ns, false, "links: hops and bytes over " + link};
  }
};

// A key of a record's params.
struct param {
  template <std::integral I>
  param(const char* k, I v) : key(k), value(static_cast<int64_t>(v)) {}
  param(const char* k, double v) : key(k), value(v) {}
  param(const char* k, std::string v) : key(k), value(std::move(v)) {}
  param(const char* k, const char* v) : key(k), value(std::string(v)) {}
  const char* key;
  std::variant<int64_t, double, std::string> value;
};

// A result at one point. The record's value is the median of the samples.
struct figure {
  std::string variant;
  std::vector<param> params;
  std::string metric, unit;     // ns, B/s, 1/s, J, W, 1: docs/benchmarks.md
  std::vector<double> samples;  // at least 5
  std::optional<bench::limit> limit = {};
};

// A running benchmark.
class gpu_session {
 public:
  using sink = std::function<void(const figure&)>;
  using observer = std::function<void(const std::string& what)>;
  gpu_session(const description& b, const gpu_options& o, const gpu_limits& l, sink s, observer p);
  ~gpu_session();
  gpu_session(const gpu_session&) = delete;
  gpu_session& operator=(const gpu_session&) = delete;

  const gpu_options& opts() const { return options_; }
  const gpu_limits& limits() const { return limits_; }
  int nodes() const { return options_.nodes; }
  uint64_t seed() const { return options_.seed; }
  // Time-out for a wait in a kernel: the kernel reports it before run() gives up.
  uint64_t wait_ns() const { return options_.timeout_ns / 4; }
  // How often a bandwidth or a whole job is measured; latencies take their samples from rounds of a kernel.
  int runs() const { return options_.quick ? 5 : 11; }

  // Makes the cluster, or a new one. Segments are zero and have `bytes` of benchmark data in addition to the reserved
  // area. Kernels need their context too: use start() of rig.cuh.
  fault make_cluster(size_t bytes);
  cluster& machine() { return *cluster_; }
  char* segment(int node) { return reinterpret_cast<char*>(cluster_->segment(node)); }
  // Offset of the first byte after the reserved part of every segment.
  size_t data_offset() const { return cluster_->device_context(0).reserved; }

  // Runs what is queued on all nodes to its end; `what` names the point in messages.
  fault run(const std::string& what);
  // Kernels still spin after a time-out: only the end of the process stops them.
  bool stuck() const { return stuck_; }

  // Copies between the host and a node's segment, when no kernel runs. A CUDA error is kept for the next run().
  template <class T>
  std::vector<T> read(int node, uint64_t offset, size_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> v(n);
    keep(cudaMemcpy(v.data(), segment(node) + offset, n * sizeof(T), cudaMemcpyDeviceToHost), "read");
    return v;
  }
  template <class T>
  void write(int node, uint64_t offset, const std::vector<T>& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    keep(cudaMemcpy(segment(node) + offset, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "write");
    // The call may return while the last piece is on the way: another GPU could read too early.
    keep(cudaStreamSynchronize(nullptr), "write");
  }
  // Sets bytes in a segment, in the node's stream.
  void fill(int node, uint64_t offset, size_t bytes, int byte);
  // `count` durations in ns that a kernel left, each times `factor`.
  std::vector<double> samples(int node, uint64_t offset, size_t count, double factor = 1);

  // Keeps the first error for the next run(), which then returns it.
  void keep(cudaError_t e, const char* what);
  void keep(const result<>& r, const char* what);
  void emit(const figure& f) { sink_(f); }
  // A line below the table: what could not be measured and why.
  void note(std::string text) { notes_.push_back(std::move(text)); }
  const std::vector<std::string>& notes() const { return notes_; }
  // For the line on the terminal that says what is going on.
  void say(const std::string& what);

 private:
  const description& benchmark_;
  const gpu_options& options_;
  const gpu_limits& limits_;
  sink sink_;
  observer observer_;
  std::unique_ptr<cluster> cluster_;
  fault kept_;
  std::vector<std::string> notes_;
  bool stuck_ = false;
};

struct gpu_benchmark : description {
  using part = fault (*)(gpu_session& s);
  std::array<part, 4> parts;  // run one after the other, up to the first null; a file with kernels each
};

// In the order of the suite.
std::span<const gpu_benchmark> all_gpu_benchmarks();

}  // namespace ggas::bench
