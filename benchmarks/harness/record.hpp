// SPDX-License-Identifier: Apache-2.0
// A result: one figure of one benchmark at one point. docs/benchmarks.md explains the keys of its JSON line.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/harness/bounds.hpp"
#include "benchmarks/harness/run_facts.hpp"

namespace ggas::bench {

// Spread of the records of several seeds, whose value is the median.
struct seed_spread {
  uint64_t count;
  double least, most;  // values
};

struct record {
  std::string benchmark, variant, provider, platform, nic;
  int nodes = 0;
  nlohmann::ordered_json params = nlohmann::ordered_json::object();
  std::string metric, unit;
  double value = 0;
  std::optional<double> p50, p99;
  uint64_t n = 0;  // samples after the value
  std::optional<bench::reference> reference;
  std::optional<bench::limit> limit;
  uint64_t cycles = 0, sim_ns = 0;  // of this point, all NICs
  double wall_s = 0;
  uint64_t seed = 0;
  std::optional<seed_spread> seeds;  // nothing: of one
  run_facts run = {};
  bool wall_clock = false;  // the value is a wall-clock time: kept out of results that must be reproducible
};

// `wall` adds the wall-clock time; without it the same seed gives the same bytes
// (docs/decisions/0003-results-without-wall-time.md).
nlohmann::ordered_json to_json(const record& r, bool wall);

// Nearest-rank percentile, 0 < p <= 1. `samples` is not empty.
double percentile(std::vector<double> samples, double p);
// Sets value (mean), p50, p99 and n.
void summarise(record& r, std::span<const double> samples);

// "2.98 µs", "796 MB/s": the prefix that reads best; `digits` significant ones.
std::string human(double value, const std::string& unit, int digits = 3);

}  // namespace ggas::bench
