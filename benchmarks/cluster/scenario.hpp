// SPDX-License-Identifier: Apache-2.0
// Scenario files: a cluster, its benchmarks and programs, faults and outputs, as TOML (docs/how-to/run-a-scenario.md).
// A scenario is converted into options of the command line; only computers of different kinds and programs have no
// option.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/cluster/programs.hpp"
#include "ggas/cluster_config.hpp"

namespace ggas::bench {

// An option with its value, a flag without one, or a name without an option.
struct setting {
  std::string option, value;
};

struct scenario {
  std::vector<setting> settings;
  std::vector<host_config> nodes = {};  // [[node]], each as often as it says; empty: as the settings say
  scenario_job job = {};                // [[program]]
};

// What the file says, or what is wrong: a line "file:line: key: rule" each.
std::expected<scenario, std::string> read_scenario(const std::filesystem::path& file);

}  // namespace ggas::bench
