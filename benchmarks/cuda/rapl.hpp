// SPDX-License-Identifier: Apache-2.0
// Energy of the processors as Linux tells it (powercap, "RAPL"); usually only root may read it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ggas::bench {

class rapl {
 public:
  // `root`: where the kernel shows its power zones.
  explicit rapl(const std::filesystem::path& root = "/sys/class/powercap");

  // Why there is nothing to read, or empty.
  const std::string& missing() const { return missing_; }
  // All packages together since this object was made; nothing if there is nothing to read. Call it at least once a
  // minute: the counters wrap.
  std::optional<double> energy_j();

 private:
  struct package {
    std::filesystem::path counter;
    uint64_t range_uj, last_uj;
  };
  std::vector<package> packages_;
  double sum_j_ = 0;
  std::string missing_;
};

}  // namespace ggas::bench
