// SPDX-License-Identifier: Apache-2.0
// For the files with kernels: start, launch, check of the kernels' results. Constant memory belongs to a translation
// unit, so everything here that uses it is static.
#pragma once

#include <algorithm>
#include <vector>

#include "benchmarks/cuda/benchmarks.hpp"
#include "benchmarks/cuda/session.hpp"
#include "benchmarks/kernels/common.cuh"
#include "benchmarks/kernels/layout_plan.hpp"
#include "benchmarks/plans/outcome_sum.hpp"
#include "ggas/launch.hpp"

namespace ggas::bench {

// The kernels of this translation unit see the session's cluster, before one of them is timed.
[[maybe_unused]] static fault bind(gpu_session& s) {
  for (int node = 0; node < s.nodes(); ++node) s.keep(ggas::prepare(s.machine(), node), "constants");
  return s.run("constants");
}

// A fresh cluster whose segments hold `bytes` after s.data_offset(), zero at first.
[[maybe_unused]] static fault start(gpu_session& s, size_t bytes) {
  GGAS_GPU_TRY(s.make_cluster(bytes));
  return bind(s);
}

// Blocks, and threads of each, that a collective in a kernel is tried with; a grid where a vector is long enough.
struct kernel_shape {
  unsigned blocks, threads;
};
[[maybe_unused]] static std::vector<kernel_shape> kernel_shapes(const gpu_session& s, uint64_t elements) {
  if (s.opts().quick) return {{1, 256}, {16, 256}};
  std::vector<kernel_shape> all = {{1, 128}, {1, 256}, {1, 512}};
  if (elements < 1024) return all;
  for (const unsigned blocks : {16u, 64u, 128u})
    for (const unsigned threads : {128u, 256u, 512u}) all.push_back({blocks, threads});
  return all;
}

// Queues a kernel on one node, or on every node with the same arguments.
template <class... P>
void launch_one(gpu_session& s, int node, dim3 grid, dim3 block, void (*kernel)(P...),
                std::type_identity_t<P>... args) {
  s.keep(ggas::launch(s.machine(), node, grid, block, kernel, args...), "launch");
}
template <class... P>
void launch_all(gpu_session& s, dim3 grid, dim3 block, void (*kernel)(P...), std::type_identity_t<P>... args) {
  for (int node = 0; node < s.nodes(); ++node) launch_one(s, node, grid, block, kernel, args...);
}

// Before a launch: outcomes that a kernel does not write are bad ones.
[[maybe_unused]] static void clear_outcomes(gpu_session& s, uint64_t offset, size_t count) {
  for (int node = 0; node < s.nodes(); ++node) s.fill(node, offset, count * sizeof(outcome), 0xff);
}

// The outcomes of one node taken together; a fault if a thread saw a bad status or a wrong value.
[[maybe_unused]] static fault check_outcomes(gpu_session& s, int node, uint64_t offset, size_t count,
                                             const std::string& what, outcome* together = nullptr) {
  const outcome all = combine(s.read<outcome>(node, offset, count));
  if (together) *together = all;
  if (std::string text = complaint(all); !text.empty()) return {what + ": node " + std::to_string(node) + ": " + text};
  return {};
}
[[maybe_unused]] static fault check_all_outcomes(gpu_session& s, uint64_t offset, size_t count,
                                                 const std::string& what) {
  for (int node = 0; node < s.nodes(); ++node) GGAS_GPU_TRY(check_outcomes(s, node, offset, count, what));
  return {};
}

// Runs the loops queued on every node, `rounds` calls each by `count` threads, and adds the time of a call on the
// slowest node to the samples.
[[maybe_unused]] static fault run_loops(gpu_session& s, uint64_t outcomes, size_t count, uint64_t rounds,
                                        const std::string& what, std::vector<double>& samples) {
  GGAS_GPU_TRY(s.run(what));
  double slowest = 0;
  for (int node = 0; node < s.nodes(); ++node) {
    outcome o{};
    GGAS_GPU_TRY(check_outcomes(s, node, outcomes, count, what, &o));
    slowest = std::max(slowest, static_cast<double>(o.end_ns - o.begin_ns) / static_cast<double>(rounds));
  }
  samples.push_back(slowest);
  return {};
}

}  // namespace ggas::bench
