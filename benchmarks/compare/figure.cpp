// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/figure.hpp"

#include <cstdio>

#include "benchmarks/cuda/machine.hpp"
#include "benchmarks/harness/record.hpp"

namespace ggas::compare {

origin origin_of(int gpus, const std::string& library) { return {bench::find_gpus().platform, gpus, library}; }

std::string library_text(const char* name, int major, int minor, int patch) {
  return std::string(name) + " " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void print(const origin& from, const figure& f) {
  if (f.samples.empty()) return;
  static const bench::run_facts run{.command = bench::command_of_process(),
                                    .topology = {},
                                    .environment = bench::switches_of_environment(bench::measures::gpus)};
  bench::record r;
  r.benchmark = f.benchmark;
  r.variant = f.variant;
  r.provider = "cuda";
  r.platform = from.platform;
  r.nic = "none";
  r.nodes = from.nodes;
  for (const param& p : f.params) {
    if (p.text.empty()) {
      r.params[p.name] = p.number;
    } else {
      r.params[p.name] = p.text;
    }
  }
  if (!from.library.empty()) r.params["library"] = from.library;
  r.metric = f.metric;
  r.unit = f.unit;
  r.run = run;
  bench::summarise(r, f.samples);
  r.value = *r.p50;
  std::printf("%s\n", bench::to_json(r, true).dump().c_str());
  std::fflush(stdout);
}

}  // namespace ggas::compare
