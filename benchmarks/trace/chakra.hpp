// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces as schedules: computations become waits, collectives become sends and receives.
#pragma once

#include "benchmarks/trace/chakra_file.hpp"
#include "benchmarks/trace/schedule.hpp"

namespace ggas::bench {

// `file` STEP.et stands for STEP.0.et, STEP.1.et, ..., a file a rank.
std::expected<schedule, std::string> read_chakra(const std::filesystem::path& file);

// The ranks of a trace by their nodes; names[r] is rank r's file in messages.
std::expected<schedule, std::string> plan_chakra(const std::vector<std::vector<chakra_node>>& ranks,
                                                 const std::vector<std::string>& names);

}  // namespace ggas::bench
