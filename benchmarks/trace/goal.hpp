// SPDX-License-Identifier: Apache-2.0
// The text format GOAL (Group Operation Assembly Language). docs/how-to/run-a-trace.md has the grammar.
#pragma once

#include "benchmarks/trace/schedule.hpp"

namespace ggas::bench {

// What is wrong is told as "file:line: rule".
std::expected<schedule, std::string> read_goal(const std::filesystem::path& file);

}  // namespace ggas::bench
