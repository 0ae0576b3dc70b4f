// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cuda/rapl.hpp"

#include <fstream>

namespace ggas::bench {

namespace {

template <class T>
std::optional<T> read(const std::filesystem::path& file) {
  T v{};
  std::ifstream in(file);
  return in >> v ? std::optional(v) : std::nullopt;
}

}  // namespace

rapl::rapl(const std::filesystem::path& root) {
  std::error_code none;
  missing_ = "no power zones in " + root.string() + " (driver intel_rapl not loaded, or a container hides them)";
  for (const auto& zone : std::filesystem::directory_iterator(root, none)) {
    const auto name = read<std::string>(zone.path() / "name");
    if (!name || !name->starts_with("package-")) continue;
    const auto counter = zone.path() / "energy_uj";
    const auto range = read<uint64_t>(zone.path() / "max_energy_range_uj"), now = read<uint64_t>(counter);
    if (!range || !now) {
      missing_ = "cannot read " + counter.string() + " (only root may, unless its mode is changed)";
      packages_.clear();
      return;
    }
    packages_.push_back({counter, *range, *now});
  }
  if (!packages_.empty()) missing_.clear();
}

std::optional<double> rapl::energy_j() {
  if (packages_.empty()) return {};
  for (package& p : packages_) {
    const auto now = read<uint64_t>(p.counter);
    if (!now) return {};
    const uint64_t step = *now >= p.last_uj ? *now - p.last_uj : *now + p.range_uj - p.last_uj;
    p.last_uj = *now;
    sum_j_ += static_cast<double>(step) / 1e6;
  }
  return sum_j_;
}

}  // namespace ggas::bench
