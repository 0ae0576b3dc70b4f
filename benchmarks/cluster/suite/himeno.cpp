// SPDX-License-Identifier: Apache-2.0
// himeno: Jacobi's method on a grid in slices along z, kept in step in several ways, the same bits as on one processor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/cluster/suite/himeno_check.hpp"
#include "benchmarks/cluster/suite/himeno_programs.hpp"
#include "benchmarks/cluster/suite/outcomes.hpp"
#include "benchmarks/kernels/himeno/original.cuh"

namespace ggas::bench {

namespace {

constexpr unsigned resident_blocks = 13;  // of the persistent kernel: one a multiprocessor of the smallest platform

// A way of the original study: queued in the streams, or a program of each processor.
struct original_way {
  const char* name;
  result<> (himeno_original::*queue)(uint32_t steps);
  void (*program)(mpi_process& p, himeno_original& n, uint32_t steps);
};
constexpr original_way original_ways[] = {
    {"stream_halves", &himeno_original::stream_halves, nullptr},
    {"in_kernel_last", &himeno_original::in_kernel_last, nullptr},
    {"store_barrier", &himeno_original::store_barrier, nullptr},
    {"put", &himeno_original::put, nullptr},
    {"hybrid", nullptr, [](mpi_process& p, himeno_original& n, uint32_t steps) { himeno_hybrid(p, n).run(steps); }},
    {"mpi", nullptr, himeno_by_messages},
};

class himeno_run {
 public:
  // `alone`: without communication, each node with the planes of its neighbours as they were at the start.
  himeno_run(session& s, const himeno_grid& grid, uint32_t steps, bool alone)
      : s_(s), grid_(grid), steps_(steps), alone_(alone) {
    for (int n = 0; n < s.nodes(); ++n) {
      himeno_args a = plan_himeno(grid, s.opts().cluster.seed, s.data_offset(), n, s.nodes(), s.opts().timeout_ns / 4);
      if (alone) a.plan.lowest = a.plan.highest = 0;
      nodes_.emplace_back(s.machine(), n, a);
    }
  }

  result<> prepare() {
    for (node& n : nodes_) GGAS_TRY(n.prepare(himeno_hybrid::chunks(grid_)));
    return {};
  }

  // Both take the grid from its start through all steps and find the residual.
  result<> solve(himeno_way way, uint64_t& ns) {
    return solve(name_of(way), ns, [&]() -> result<> {
      if (way == himeno_way::device)
        GGAS_TRY(s_.check_room(std::min(nodes_[0].args().plan.tiles(), resident_blocks), himeno_warps * 32, what_));
      if (way != himeno_way::host) return all([&](node& n) { return n.run(way, steps_, resident_blocks); });
      for (uint32_t step = 1; step <= steps_; ++step) {
        GGAS_TRY(all([&](node& n) { return n.compute(step); }));
        GGAS_TRY(all([&](node& n) { return n.exchange(step); }));
      }
      return {};
    });
  }
  result<> solve(const original_way& way, uint64_t& ns) {
    return solve(way.name, ns, [&]() -> result<> {
      if (way.queue) return all([&](node& n) { return (n.*way.queue)(steps_); });
      return run_processes(s_, what_, [&](mpi_process& p) { way.program(p, nodes_[size_t(p.node())], steps_); });
    });
  }

  result<> check(const himeno_solution& want) {
    GGAS_TRY(check_statuses());  // of all nodes: the halo of a node that failed spoils its neighbours' results
    for (int n = 0; n < s_.nodes(); ++n) {
      const himeno_args& a = nodes_[static_cast<size_t>(n)].args();
      const double gosa = at_offset<double>(s_, n, a.gosa)[a.plan.tiles()];
      const bool same = same_pressure(s_, n, a, want, steps_, alone_ ? steps_ - 1 : 0);
      if (!same || (!alone_ && std::abs(gosa - want.gosa) > 1e-6 * want.gosa))
        return failed(
            errc::device_fault,
            fmt::format("{}: node {}: verification failed: the result differs from that of one processor", what_, n));
    }
    return {};
  }

 private:
  using node = himeno_original;

  template <class F>
  result<> solve(const char* name, uint64_t& ns, F steps) {
    what_ = fmt::format("{} {}x{}x{}", name, grid_.nx, grid_.ny, grid_.nz);
    GGAS_TRY(all([](node& n) { return n.fill(2); }));
    const uint64_t begin = s_.machine().now_ns();
    GGAS_TRY(steps());
    ns = s_.machine().now_ns() - begin;
    return all([](node& n) { return n.gosa(); });
  }

  result<> check_statuses() {
    for (int n = 0; n < s_.nodes(); ++n) {
      const uint64_t words = nodes_[static_cast<size_t>(n)].args().words;
      const auto status = static_cast<ggas_status>(at_offset<uint64_t>(s_, n, words)[himeno_status]);
      if (status != ggas_ok)
        return failed(errc::device_fault, fmt::format("{}: node {}: {}", what_, n, ggas_status_text(status)));
    }
    return {};
  }

  template <class F>
  result<> all(F queue) {
    for (node& n : nodes_) GGAS_TRY(queue(n));
    return s_.run(what_);
  }

  session& s_;
  himeno_grid grid_;
  uint32_t steps_;
  bool alone_;
  std::vector<node> nodes_;
  std::string what_;
};

result<> run_grid(session& s, const himeno_grid& grid) {
  const uint32_t steps = s.opts().sizes.steps.value_or(s.opts().sized(4u, 6u, 10u));
  const himeno_solution want = himeno_reference(grid, s.opts().cluster.seed, steps);
  himeno_run together(s, grid, steps, false), alone(s, grid, steps, true);
  const auto measure = [&](himeno_run& job, const auto& way, const char* name, const char* metric) -> result<> {
    uint64_t ns = 0;
    GGAS_TRY(job.solve(way, ns));
    GGAS_TRY(job.check(want));
    record r = s.begin(name, metric, "1/s");
    r.params = {{"elements", grid.plane() * grid.nz}, {"grid", fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz)}};
    r.value = static_cast<double>(himeno_flops * grid.points_inside() * steps) * 1e9 / static_cast<double>(ns);
    r.n = steps;
    s.emit(std::move(r));
    return {};
  };
  const auto point = [&](const auto& way, const char* name) -> result<> {
    GGAS_TRY(measure(together, way, name, "flops"));
    const bool apart = s.nodes() > 1 && !s.opts().energy;  // joules are those of the whole method
    return apart ? measure(alone, way, name, "flops_alone") : result<>{};
  };
  for (const himeno_way way : all_himeno_ways) GGAS_TRY(point(way, name_of(way)));
  if (!has_processes(s)) return {};
  GGAS_TRY(together.prepare());
  GGAS_TRY(alone.prepare());
  for (const original_way& way : original_ways) GGAS_TRY(point(way, way.name));
  return {};
}

result<> start(session& s, const himeno_grid& largest) {
  return s.start(with_processes(s, {.bytes = himeno_room(largest, s.nodes()) + (1u << 20)}, himeno_pinned(largest)));
}

}  // namespace

result<> run_himeno(session& s) {
  if (const auto& g = s.opts().sizes.grid) {
    const himeno_grid wish{g->nx, g->ny, g->nz};
    GGAS_TRY(start(s, wish));
    return run_grid(s, wish);
  }
  const auto nodes = static_cast<uint32_t>(s.nodes());
  // Weak scaling: the same for each node; strong: the same for all together.
  const himeno_grid weak = s.opts().quick ? himeno_grid{32, 18, 6 * nodes} : himeno_grid{64, 34, 16 * nodes};
  const himeno_grid strong{64, 34, 48};
  const bool both = !s.opts().quick && !s.opts().middle && check_himeno(strong, s.nodes()).empty();
  GGAS_TRY(start(s, both && strong.nz > weak.nz ? strong : weak));
  GGAS_TRY(run_grid(s, weak));
  return both ? run_grid(s, strong) : result<>{};
}

}  // namespace ggas::bench
