// SPDX-License-Identifier: Apache-2.0
// Scenario files: a cluster, what runs on it, faults and outputs, as TOML (docs/how-to/run-a-scenario.md). A scenario
// says nothing that the command line cannot: it is turned into words for it.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace ggas::bench {

// The words that stand for the file on the command line, or what is wrong: a line "file:line: key: rule" each.
std::expected<std::vector<std::string>, std::string> read_scenario(const std::filesystem::path& file);

}  // namespace ggas::bench
