// SPDX-License-Identifier: Apache-2.0
// himeno: Jacobi's method on a grid in slices along z, kept in step in several ways, the same bits as on one processor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/benchmarks.hpp"
#include "benchmarks/himeno_reference.hpp"
#include "benchmarks/kernels/himeno_ways.cuh"
#include "benchmarks/outcomes.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned resident_blocks = 13;  // of the persistent kernel: one a multiprocessor of the smallest platform

class himeno_run {
 public:
  himeno_run(session& s, const himeno_grid& grid, uint32_t steps) : s_(s), grid_(grid), steps_(steps) {
    for (int n = 0; n < s.nodes(); ++n) {
      nodes_.emplace_back(
          s.machine(), n,
          plan_himeno(grid, s.opts().cluster.seed, s.data_offset(), n, s.nodes(), s.opts().timeout_ns / 4));
    }
  }

  result<> solve(himeno_way way, uint64_t& ns) {
    what_ = fmt::format("{} {}x{}x{}", name_of(way), grid_.nx, grid_.ny, grid_.nz);
    GGAS_TRY(all([](node& n) { return n.fill(2); }));
    const uint64_t begin = s_.machine().now_ns();
    if (way == himeno_way::host) {
      for (uint32_t step = 1; step <= steps_; ++step) {
        GGAS_TRY(all([&](node& n) { return n.compute(step); }));
        GGAS_TRY(all([&](node& n) { return n.exchange(step); }));
      }
    } else {
      GGAS_TRY(all([&](node& n) { return n.run(way, steps_, resident_blocks); }));
    }
    ns = s_.machine().now_ns() - begin;
    return all([](node& n) { return n.gosa(); });
  }

  result<> check(const himeno_solution& want) {
    GGAS_TRY(check_statuses());  // of all nodes: the halo of a node that failed spoils its neighbours' results
    for (int n = 0; n < s_.nodes(); ++n) {
      const himeno_args& a = nodes_[static_cast<size_t>(n)].args();
      const himeno_slice& slice = a.plan.slice;
      const float* got = at_offset<float>(s_, n, a.pressure + a.copy_of(steps_)) + grid_.index(0, 0, 1);
      const bool same = std::equal(got, got + slice.planes * grid_.plane(),
                                   want.pressure.begin() + static_cast<ptrdiff_t>(slice.begin * grid_.plane()));
      const double gosa = at_offset<double>(s_, n, a.gosa)[a.plan.tiles()];
      if (!same || std::abs(gosa - want.gosa) > 1e-6 * want.gosa)
        return failed(errc::device_fault,
                      fmt::format("{}: node {}: verification failed: not what one processor computes", what_, n));
    }
    return {};
  }

 private:
  using node = himeno_node;

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
  std::vector<node> nodes_;
  std::string what_;
};

result<> run_grid(session& s, const himeno_grid& grid) {
  const uint32_t steps = s.opts().sized(4u, 6u, 10u);
  const himeno_solution want = himeno_reference(grid, s.opts().cluster.seed, steps);
  himeno_run job(s, grid, steps);
  for (const himeno_way way : all_himeno_ways) {
    uint64_t ns = 0;
    GGAS_TRY(job.solve(way, ns));
    GGAS_TRY(job.check(want));
    record r = s.begin(name_of(way), "flops", "1/s");
    r.params = {{"elements", grid.plane() * grid.nz}, {"grid", fmt::format("{}x{}x{}", grid.nx, grid.ny, grid.nz)}};
    r.value = static_cast<double>(himeno_flops * grid.points_inside() * steps) * 1e9 / static_cast<double>(ns);
    r.n = steps;
    s.emit(std::move(r));
  }
  return {};
}

}  // namespace

result<> run_himeno(session& s) {
  const auto nodes = static_cast<uint32_t>(s.nodes());
  // Weak scaling: the same for each node; strong: the same for all together.
  const himeno_grid weak = s.opts().quick ? himeno_grid{32, 18, 6 * nodes} : himeno_grid{64, 34, 16 * nodes};
  const himeno_grid strong{64, 34, 48};
  const bool both = !s.opts().quick && !s.opts().middle && check_himeno(strong, s.nodes()).empty();
  const himeno_grid& largest = both && strong.nz > weak.nz ? strong : weak;
  GGAS_TRY(s.start(himeno_room(largest, s.nodes()) + (1u << 20)));
  GGAS_TRY(run_grid(s, weak));
  return both ? run_grid(s, strong) : result<>{};
}

}  // namespace ggas::bench
