// SPDX-License-Identifier: Apache-2.0
// nic_cycles as a benchmark: the figures of the NIC alone, and how fast the simulator runs (docs/benchmarks.md).
#include <fmt/format.h>

#include <chrono>

#include "benchmarks/cluster/suite/benchmarks.hpp"
#include "benchmarks/harness/signals.hpp"
#include "benchmarks/nic/cycles.hpp"
#include "gpu_api/simt/device.hpp"

namespace ggas::bench {

namespace {

constexpr unsigned idle_ns = 1'000'000'000;

void emit_figure(session& s, const nic_cycle_record& f) {
  record r = s.begin("rtl", f.name, f.unit);
  r.platform = "none";  // two NICs at their pins, hosts that answer at once
  r.nodes = 2;
  r.params = {{"data_w", f.data_w}};
  r.value = f.value;
  r.n = 1;
  r.wall_clock = f.wall_clock;
  if (f.bound != 0) r.limit = limit{f.bound, f.at_most, "of the NIC (docs/benchmarks.md)", true};
  s.charge(f.cycles, 0, 0);
  s.emit(std::move(r));
}

result<> measure_width(session& s, unsigned data_w) {
  const auto begin = std::chrono::steady_clock::now();
  const auto cancelled = [] { return caught_signal() != 0; };
  const auto figures = run_nic_cycles(s.opts().cluster.seed, data_w, cancelled);
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (cancelled()) return failed(errc::cancelled, fmt::format("nic_cycles: {}-bit NIC", data_w));
  if (!figures) return failed(errc::device_fault, fmt::format("nic_cycles: {}", figures.error()));
  s.charge(0, 0, wall_s);
  for (const nic_cycle_record& f : *figures) emit_figure(s, f);
  return {};
}

// All nodes idle for one simulated second.
result<> idle_second(session& s) {
  GGAS_TRY(s.start(1u << 20));
  GGAS_TRY(s.launch_all({1}, {1}, [](int) { return [] { __nanosleep(idle_ns); }; }));
  const auto stats = s.machine().run(2ull * idle_ns);
  if (!stats) return failed(stats.error().code, fmt::format("idle second: {}", stats.error().text));
  record r = s.begin("idle", "wall_time_of_an_idle_second", "ns");
  r.value = stats->wall_s * 1e9;
  r.n = 1;
  r.wall_clock = true;
  r.limit = limit{1e9, true, "real time", true};
  s.charge(stats->nic_cycles, stats->sim_ns, stats->wall_s);
  s.emit(std::move(r));
  return {};
}

}  // namespace

std::vector<unsigned> nic_cycles_widths(bool quick) {
  return quick ? std::vector<unsigned>{64, 256} : std::vector<unsigned>{64, 256, 512};
}

result<> run_nic_cycles(session& s) {
  for (const unsigned w : nic_cycles_widths(s.opts().quick)) GGAS_TRY(measure_width(s, w));
  return idle_second(s);
}

}  // namespace ggas::bench
