// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/energy/powercap.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace ggas::bench {

namespace {

namespace fs = std::filesystem;

template <class T>
std::optional<T> read(const fs::path& file) {
  T v{};
  std::ifstream in(file);
  return in >> v ? std::optional(v) : std::nullopt;
}

std::optional<double> joules(const fs::path& file) {
  const auto uj = read<uint64_t>(file);
  return uj ? std::optional(static_cast<double>(*uj) / 1e6) : std::nullopt;
}

// A zone of DRAM is inside its package's: intel-rapl:0:1 is memory of intel-rapl:0, and has its number.
std::string part_of(const fs::path& zone, const std::string& name) {
  if (name != "dram") return name;
  const std::string folder = zone.filename().string();
  const size_t first = folder.find(':');
  if (first == std::string::npos) return name;
  return "dram-" + folder.substr(first + 1, folder.find(':', first + 1) - first - 1);
}

}  // namespace

sensor_list find_processors(const fs::path& root) {
  sensor_list all;
  all.missing = "no power zones in " + root.string() + " (driver intel_rapl not loaded, or a container hides them)";
  std::string refused;
  std::error_code none;
  for (const auto& zone : fs::directory_iterator(root, none)) {
    const auto name = read<std::string>(zone.path() / "name");
    if (!name || (*name != "dram" && !name->starts_with("package-"))) continue;
    const auto counter = zone.path() / "energy_uj";
    const auto range = joules(zone.path() / "max_energy_range_uj");
    if (!range || !joules(counter)) {
      refused = "cannot read " + counter.string() + " (only root may, unless its mode is changed)";
      continue;
    }
    all.found.push_back({.part = part_of(zone.path(), *name),
                         .group = *name == "dram" ? "dram" : "processors",
                         .energy_j = [counter] { return joules(counter); },
                         .range_j = *range});
  }
  if (!refused.empty() || !all.found.empty()) all.missing = refused;
  std::ranges::sort(all.found, {}, &sensor::part);
  return all;
}

}  // namespace ggas::bench
