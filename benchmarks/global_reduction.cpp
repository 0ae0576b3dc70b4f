// SPDX-License-Identifier: Apache-2.0
// global_reduction: each GPU sums its array, one value goes through an allreduce; reductions a second.
#include "benchmarks/kernels/global_reduction.cuh"

#include <fmt/format.h>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned blocks = 4;

result<> check(session& s, const reduction_args& a, double want, const std::string& what) {
  for (int n = 0; n < s.nodes(); ++n) {
    const auto status = static_cast<ggas_status>(at_offset<uint64_t>(s, n, a.words)[reduction_status]);
    if (status != ggas_ok)
      return failed(errc::device_fault, fmt::format("{}: node {}: {}", what, n, ggas_status_text(status)));
    const double got = at_offset<double>(s, n, a.sums)[sum_so_far];
    if (got != want)
      return failed(errc::device_fault,
                    fmt::format("{}: node {}: verification failed: {} instead of {}", what, n, got, want));
  }
  return {};
}

result<> run_point(session& s, const reduction_args& a, reduction_way way) {
  const std::string variant = name_of(way), what = fmt::format("{} {}", variant, a.elements);
  const unsigned rounds = s.opts().sized(5u, 10u, 20u);
  GGAS_TRY(s.launch_all({2}, {reduction_threads}, [&](int) { return [a] { reduction_fill(a); }; }));
  GGAS_TRY(s.run(what));
  const uint64_t begin = s.machine().now_ns();
  for (int n = 0; n < s.nodes(); ++n) GGAS_TRY(queue_reductions(s.machine(), n, blocks, a, way, rounds));
  GGAS_TRY(s.run(what));
  const double ns = static_cast<double>(s.machine().now_ns() - begin);
  GGAS_TRY(check(s, a, reduction_result(a, s.nodes()) * rounds, what));
  record r = s.begin(variant, "reductions", "1/s");
  r.params = {{"elements", a.elements}, {"bytes", a.elements * sizeof(float)}};
  r.value = rounds * 1e9 / ns;
  r.n = rounds;
  s.emit(std::move(r));
  return {};
}

}  // namespace

result<> run_global_reduction(session& s) {
  const auto sizes = s.opts().sized<std::vector<uint64_t>>({4096}, {1024, 65536}, {1024, 16384, 262144});
  GGAS_TRY(s.start(sizes.back() * sizeof(float) + (1u << 20)));
  reduction_args a =
      plan_reduction(s.data_offset(), sizes.back(), blocks, s.opts().cluster.seed, s.opts().timeout_ns / 4);
  for (const uint64_t n : sizes) {
    a.elements = n;
    for (const reduction_way way : all_reduction_ways) GGAS_TRY(run_point(s, a, way));
  }
  return {};
}

}  // namespace ggas::bench
