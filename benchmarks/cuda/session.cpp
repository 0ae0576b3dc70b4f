// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cuda/session.hpp"

#include <algorithm>
#include <utility>

#include "benchmarks/harness/signals.hpp"
#include "ggas/detail/platform/layout.hpp"

namespace ggas::bench {

namespace {
constexpr size_t page = 4096;
size_t round_up(size_t v) { return (v + page - 1) / page * page; }
}  // namespace

gpu_session::gpu_session(const description& b, const gpu_options& o, const gpu_limits& l, sink s, observer p)
    : benchmark_(b), options_(o), limits_(l), sink_(std::move(s)), observer_(std::move(p)) {}

gpu_session::~gpu_session() {
  if (stuck_) (void)cluster_.release();  // its memory is in use until the process ends
}

fault gpu_session::make_cluster(size_t bytes) {
  cluster_.reset();  // the old one gives its memory back first
  // A quarter of a segment is reserved at most: large enough for every channel of the collectives.
  const size_t reserved = layout::largest_reserved(static_cast<uint64_t>(nodes()));
  const size_t segment = std::max(round_up(bytes) + reserved, 4 * reserved);
  cluster_config config;
  config.provider = "cuda";
  config.nodes = nodes();
  config.segment_bytes = segment;
  config.host_bytes = 0;
  config.cancelled = [] { return caught_signal() != 0; };
  auto made = cluster::create(config);
  if (!made) return {std::string(benchmark_.name) + ": " + made.error().text, true};
  cluster_ = std::move(*made);
  return {};
}

fault gpu_session::run(const std::string& what) {
  const std::string where = std::string(benchmark_.name) + " " + what;
  say(where);
  if (caught_signal() != 0) return {where + ": cancelled"};
  if (kept_) return {where + ": " + std::exchange(kept_, {}).text};
  const auto ran = cluster_->run(options_.timeout_ns);
  if (ran) return {};
  stuck_ = true;
  return {where + ": " + ran.error().text};
}

void gpu_session::fill(int node, uint64_t offset, size_t bytes, int byte) {
  keep(cudaSetDevice(machine().device(node)), "cudaSetDevice");
  keep(cudaMemsetAsync(segment(node) + offset, byte, bytes, machine().cuda_stream(node)), "cudaMemsetAsync");
}

std::vector<double> gpu_session::samples(int node, uint64_t offset, size_t count, double factor) {
  std::vector<double> out;
  for (const uint64_t ns : read<uint64_t>(node, offset, count)) out.push_back(static_cast<double>(ns) * factor);
  return out;
}

void gpu_session::keep(cudaError_t e, const char* what) {
  if (e == cudaSuccess || kept_) return;
  kept_.text = std::string(what) + ": " + cudaGetErrorName(e) + ": " + cudaGetErrorString(e);
}

void gpu_session::keep(const result<>& r, const char* what) {
  if (!r && !kept_) kept_.text = std::string(what) + ": " + r.error().text;
}

void gpu_session::say(const std::string& what) {
  if (observer_) observer_(what);
}

}  // namespace ggas::bench
