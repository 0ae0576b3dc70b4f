// SPDX-License-Identifier: Apache-2.0
// The text format GOAL (Group Operation Assembly Language), as LogGOPSim, its Schedgen and ATLAHS write and read it.
// docs/how-to/run-a-trace.md has the grammar.
#pragma once

#include <string_view>

#include "benchmarks/trace/schedule.hpp"

namespace ggas::bench {

// What is wrong is reported as "file:line: rule".
std::expected<schedule, std::string> read_goal(const std::filesystem::path& file);
// `file` stands in messages.
std::expected<schedule, std::string> parse_goal(std::string_view text, const std::string& file);

}  // namespace ggas::bench
