// SPDX-License-Identifier: Apache-2.0
// global_reduction: each GPU sums its array, one value goes through an allreduce; reductions a second.
#include "benchmarks/kernels/global_reduction.cuh"

#include <fmt/format.h>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/messages/process.hpp"

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

// A kernel sums the GPU's array, its sum is copied to the host, the hosts add theirs up and copy the result back.
void reduce_by_messages(mpi_process& p, const reduction_args& a, unsigned rounds) {
  auto* const sum = reinterpret_cast<double*>(p.pinned());
  auto* const sums = reinterpret_cast<double*>(p.machine.segment(p.node()) + a.sums);
  for (unsigned i = 0; i < rounds; ++i) {
    if (!p.queued(launch(p.machine, p.node(), blocks, reduction_threads, reduction_here, a))) return;
    if (!p.copy(sum, sums + sum_here, sizeof *sum)) return;
    if (!p.collectives.allreduce(sum, sum + 1, 1)) return;
    if (!p.queued(p.machine.copy_on_stream(p.node(), sums + sum_of_all, sum, sizeof *sum))) return;
    if (!p.queued(launch(p.machine, p.node(), 1, 32, reduction_total, a))) return;
  }
  p.synchronise();
}

result<> run_point(session& s, const reduction_args& a, const std::string& variant,
                   const std::function<result<>(const std::string& what, unsigned rounds)>& reduce) {
  const std::string what = fmt::format("{} {}", variant, a.elements);
  const unsigned rounds = s.opts().rounds_of(5, 10, 20);
  GGAS_TRY(s.launch_all({2}, {reduction_threads}, [&](int) { return [a] { reduction_fill(a); }; }));
  GGAS_TRY(s.run(what));
  const uint64_t begin = s.machine().now_ns();
  GGAS_TRY(reduce(what, rounds));
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
  GGAS_TRY(s.start(with_processes(s, {.bytes = sizes.back() * sizeof(float) + (1u << 20)}, 4 * sizeof(double))));
  reduction_args a =
      plan_reduction(s.data_offset(), sizes.back(), blocks, s.opts().cluster.seed, s.opts().timeout_ns / 4);
  for (const uint64_t n : sizes) {
    a.elements = n;
    for (const reduction_way way : all_reduction_ways) {
      GGAS_TRY(run_point(s, a, name_of(way), [&](const std::string& what, unsigned rounds) -> result<> {
        for (int n = 0; n < s.nodes(); ++n) GGAS_TRY(queue_reductions(s.machine(), n, blocks, a, way, rounds));
        return s.run(what);
      }));
    }
    if (!has_processes(s)) continue;
    GGAS_TRY(run_point(s, a, "mpi", [&](const std::string& what, unsigned rounds) {
      return run_processes(s, what, [&](mpi_process& p) { reduce_by_messages(p, a, rounds); });
    }));
  }
  return {};
}

}  // namespace ggas::bench
