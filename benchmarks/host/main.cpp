// SPDX-License-Identifier: Apache-2.0
// ggas-host-bench: latency, bandwidth, message rate, overhead, allreduce and barrier between processes.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "benchmarks/host/patterns.hpp"

namespace ggas::host_bench {
namespace {

struct options {
  bool quick = false;
  std::string json;
};

// Rounds of a sample: fewer of what takes longer; the same on all ranks.
unsigned rounds_of(size_t bytes, bool quick) {
  const size_t full = bytes <= 4096 ? 200 : std::max<size_t>(2, (1 << 20) / bytes * 2);
  return static_cast<unsigned>(quick ? std::max<size_t>(2, full / 10) : full);
}

// On a processor of its own, as launchers of MPI do it: two ranks on one core measure the scheduler.
void bind(unsigned rank) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  unsigned left = rank % unsigned(CPU_COUNT(&allowed));
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) throw failure("cannot be bound to a processor");
    return;
  }
}

double load() {
  double minute = 0;
  std::ifstream("/proc/loadavg") >> minute;
  return minute;
}

nlohmann::json record(const means& m, const pattern& p, size_t bytes, const std::vector<double>& sorted) {
  return {{"benchmark", p.name},
          {"library", m.name()},
          {"provider", m.provider()},
          {"platform", "host"},
          {"processors", std::thread::hardware_concurrency()},
          {"load", load()},
          {"seed", 0},
          {"ranks", m.size()},
          {"bytes", bytes},
          {"unit", p.unit},
          {"median", sorted[sorted.size() / 2]},
          {"least", sorted.front()},
          {"most", sorted.back()},
          {"samples", sorted.size()}};
}

// All samples of a pattern at a size; rank 0 prints and writes the median.
void measure(means& m, const pattern& p, size_t bytes, const options& o, std::ofstream& json) {
  const unsigned samples = o.quick ? 5 : 31, rounds = rounds_of(bytes, o.quick);
  p.sample(m, bytes, rounds);  // pages and caches
  std::vector<double> taken;
  for (unsigned s = 0; s < samples; ++s) {
    m.barrier();
    taken.push_back(p.sample(m, bytes, rounds));
  }
  if (bytes) check_data(m, bytes);
  if (m.rank() != 0) return;
  std::ranges::sort(taken);
  std::printf("%-10zu %18.2f %18.2f %18.2f\n", bytes, taken[taken.size() / 2], taken.front(), taken.back());
  if (json.is_open() && !(json << record(m, p, bytes, taken) << std::endl))
    throw failure(o.json + ": not all results could be written");
}

void run(const options& o) {
  const std::unique_ptr<means> m = make_ggas(most_bytes);
  if (m->size() < 2) throw failure("needs 2 ranks or more: ./ggas run -n 2 ggas-host-bench");
  bind(m->rank());
  std::ofstream json;
  if (m->rank() == 0 && !o.json.empty()) {
    json.open(o.json);
    if (!json) throw failure(o.json + ": cannot be written");
  }
  for (const pattern& p : patterns) {
    if (m->rank() == 0)
      std::printf("\n# %s of %s (%s), %u ranks, %u processors, load %.1f\n%-10s %18s %18s %18s\n", p.name,
                  m->name().c_str(), m->provider().c_str(), m->size(), std::thread::hardware_concurrency(), load(),
                  "# Size", (std::string("median ") + p.unit).c_str(), "least", "most");
    for (size_t bytes = p.least; bytes <= p.most; bytes = bytes ? 2 * bytes : 1) measure(*m, p, bytes, o, json);
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw failure("standard output: not all could be written");
  }
}

}  // namespace
}  // namespace ggas::host_bench

int main(int argc, char** argv) {
  ggas::host_bench::options o;
  CLI::App app("Measures libggas between processes, host memory: ./ggas run -n 2 --stop ggas-host-bench [options]");
  app.add_flag("--quick", o.quick, "fewer samples: to see that it works, not to compare");
  app.add_option("--json", o.json, "file for the results, a JSON object a line");
  CLI11_PARSE(app, argc, argv);
  try {
    ggas::host_bench::run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ggas-host-bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
