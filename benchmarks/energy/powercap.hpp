// SPDX-License-Identifier: Apache-2.0
// Energy of processors and their DRAM as Linux shows it (powercap, "RAPL"); usually only root may read it.
#pragma once

#include <filesystem>

#include "benchmarks/energy/sensor.hpp"

namespace ggas::bench {

inline constexpr const char* powercap_folder = "/sys/class/powercap";

// The zones package-* and dram; the other zones of a package (core, uncore) are parts of it. A zone that cannot be read
// is left out, and `missing` names its file.
sensor_list find_processors(const std::filesystem::path& root = powercap_folder);

}  // namespace ggas::bench
