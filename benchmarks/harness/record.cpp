// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ggas::bench {

namespace {

using json = nlohmann::ordered_json;

json optional_number(const std::optional<double>& v) { return v ? json(*v) : json(nullptr); }

// Decimal places for so many significant digits.
int places(double scaled, int digits) {
  const int before = scaled == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(scaled)))) + 1;
  return std::max(0, digits - std::max(before, 0));
}

// `least`: the smallest factor that is used.
std::string with_prefix(double value, std::string_view unit, int digits, double least = 1) {
  static constexpr std::array<std::pair<double, const char*>, 8> prefixes{
      {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}};
  for (const auto& [factor, prefix] : prefixes) {
    if (std::abs(value) >= factor * 0.9995 || factor == least) {
      const double scaled = value / factor;
      return fmt::format("{:.{}f} {}{}", scaled, places(scaled, digits), prefix, unit);
    }
  }
  return {};
}

std::string time_text(double ns, int digits) {
  static constexpr std::array<std::pair<double, const char*>, 4> units{
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
  for (const auto& [factor, name] : units) {
    if (std::abs(ns) >= factor * 0.9995 || factor == 1) {
      const double scaled = ns / factor;
      return fmt::format("{:.{}f} {}", scaled, places(scaled, digits), name);
    }
  }
  return {};
}

}  // namespace

json to_json(const record& r, bool wall) {
  json j;
  j["benchmark"] = r.benchmark;
  j["variant"] = r.variant;
  j["provider"] = r.provider;
  j["platform"] = r.platform;
  j["nic"] = r.nic;
  j["nodes"] = r.nodes;
  j["params"] = r.params;
  j["metric"] = r.metric;
  j["unit"] = r.unit;
  j["value"] = r.value;
  j["p50"] = optional_number(r.p50);
  j["p99"] = optional_number(r.p99);
  j["n"] = r.n;
  j["reference"] = r.reference ? json{{"value", r.reference->value}, {"source", r.reference->source}} : json(nullptr);
  j["limit"] = r.limit ? json{{"value", r.limit->value},
                              {"at_most", r.limit->at_most},
                              {"source", r.limit->source},
                              {"goal", r.limit->goal}}
                       : json(nullptr);
  j["sim"] = json{{"cycles", r.cycles}, {"sim_ns", r.sim_ns}, {"wall_s", wall ? json(r.wall_s) : json(nullptr)}};
  j["seed"] = r.seed;
  j["seeds"] =
      r.seeds ? json{{"count", r.seeds->count}, {"least", r.seeds->least}, {"most", r.seeds->most}} : json(nullptr);
  j["run"] = r.run.to_json();
  j["version"] = GGAS_VERSION;
  return j;
}

double percentile(std::vector<double> samples, double p) {
  const auto rank = static_cast<size_t>(std::ceil(p * static_cast<double>(samples.size())));
  const auto nth = samples.begin() + static_cast<ptrdiff_t>(std::clamp<size_t>(rank, 1, samples.size()) - 1);
  std::nth_element(samples.begin(), nth, samples.end());
  return *nth;
}

void summarise(record& r, std::span<const double> samples) {
  const std::vector<double> copy(samples.begin(), samples.end());
  r.value = std::accumulate(copy.begin(), copy.end(), 0.0) / static_cast<double>(copy.size());
  r.p50 = percentile(copy, 0.5);
  r.p99 = percentile(copy, 0.99);
  r.n = copy.size();
}

std::string human(double value, const std::string& unit, int digits) {
  if (unit == "ns") return time_text(value, digits);
  if (unit == "1") return fmt::format("{:.{}f}", value, value == std::floor(value) ? 0 : places(value, digits));
  if (unit == "1/s" || unit == "1/J") return with_prefix(value, unit.substr(1), digits);
  if (unit == "cycles")
    return fmt::format("{:.{}f} cycles", value, value == std::floor(value) ? 0 : places(value, digits));
  if (unit == "fraction") return fmt::format("{:.1f} %", 100 * value);
  if (unit == "J") return with_prefix(value, unit, digits, 1e-9);
  return with_prefix(value, unit, digits);
}

}  // namespace ggas::bench
