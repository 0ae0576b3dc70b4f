// SPDX-License-Identifier: Apache-2.0
// ggas-host-bench: latency, bandwidth, message rate, overhead, allreduce and barrier between processes.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "benchmarks/host/gpu_ways.hpp"
#include "benchmarks/host/table.hpp"

namespace ggas::host_bench {
namespace {

struct options {
  bool quick = false, beside_mpi = false;
  size_t most = most_bytes;
  std::vector<std::string> only;  // names of patterns; empty: all
  std::string json;
  std::string gpu;  // module; empty: memory of the host
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

using libraries = std::vector<std::unique_ptr<means>>;

libraries make_all(const options& o) {
  libraries all;
  if (o.beside_mpi) all = make_mpi(most_bytes);
  all.insert(all.begin(), make_ggas(most_bytes));
  const means& ours = *all.front();
  if (ours.size() < 2) throw failure("needs 2 ranks or more: ./ggas run -n 2 ggas-host-bench");
  for (const auto& m : all)
    if (m->rank() != ours.rank() || m->size() != ours.size())
      throw failure(m->name() + " counts other ranks than libggas: start it by mpirun alone");
  return all;
}

// All samples of a pattern at a size. The libraries take turns at every sample, so that other load of the computer
// affects all of them; while one is measured all ranks wait in its calls.
void measure(const std::vector<means*>& all, const pattern& p, size_t bytes, const options& o, table& t) {
  const unsigned count = o.quick ? 5 : 31, rounds = rounds_of(bytes, o.quick);
  std::vector<samples> taken;
  for (means* m : all) {
    p.sample(*m, bytes, rounds);  // pages and caches
    taken.push_back({m, {}});
  }
  for (unsigned s = 0; s < count; ++s) {
    for (size_t i = 0; i < all.size(); ++i) {
      all[i]->barrier();
      taken[i].sorted.push_back(p.sample(*all[i], bytes, rounds));
      all[i]->barrier();
    }
  }
  for (means* m : all)
    if (bytes) check_data(*m, bytes);
  for (samples& s : taken) std::ranges::sort(s.sorted);
  if (all[0]->rank() == 0) t.row(bytes, taken);
}

void run(const options& o) {
  const libraries all = make_all(o);
  const bool tells = all[0]->rank() == 0;
  bind(all[0]->rank());
  table t(tells ? o.json : "");
  for (const pattern& p : patterns) {
    if (!o.only.empty() && std::ranges::find(o.only, p.name) == o.only.end()) continue;
    std::vector<means*> able;
    for (const auto& m : all)
      if (p.is != kind::time_of_all || m->has_collectives()) able.push_back(m.get());
    if (tells) t.begin(p, {able.begin(), able.end()});
    for (size_t bytes = p.least; bytes <= std::min(p.most, o.most); bytes = bytes ? 2 * bytes : 1)
      measure(able, p, bytes, o, t);
    if (tells) t.end();
  }
}

}  // namespace
}  // namespace ggas::host_bench

int main(int argc, char** argv) {
  ggas::host_bench::options o;
  CLI::App app("Measures libggas between processes, host memory: ./ggas run -n 2 --stop ggas-host-bench [options]");
  app.add_flag("--quick", o.quick, "fewer samples: to see that it works, not to compare");
  app.add_flag("--beside-mpi", o.beside_mpi, "MPI in turns with libggas: mpirun -n 2 ggas-host-bench --beside-mpi");
  std::vector<std::string> names;
  for (const auto& p : ggas::host_bench::patterns) names.emplace_back(p.name);
  app.add_option("--only", o.only, "patterns, with commas between")->delimiter(',')->check(CLI::IsMember(names));
  app.add_option("--most", o.most, "largest size, bytes")->check(CLI::Range(size_t{8}, ggas::host_bench::most_bytes));
  app.add_option("--json", o.json, "file for the results, a JSON object a line");
  app.add_option("--gpu", o.gpu, "instead: writes between GPUs of this module, direct, staged, hybrid; 2 ranks");
  CLI11_PARSE(app, argc, argv);
  try {
    if (o.gpu.empty())
      ggas::host_bench::run(o);
    else
      ggas::host_bench::measure_gpu_ways(o.gpu, o.most, o.quick, o.json);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ggas-host-bench: %s\n", e.what());
    return 1;
  }
  return 0;
}
