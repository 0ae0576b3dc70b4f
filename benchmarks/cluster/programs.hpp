// SPDX-License-Identifier: Apache-2.0
// Programs of a scenario: [[program]] tables, a rank of one job on each simulated node (docs/how-to/run-a-scenario.md).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ggas/cluster_config.hpp"

namespace ggas::bench {

struct scenario_program {
  std::vector<std::string> command;  // with its arguments
  std::vector<int64_t> nodes;        // empty: all
  std::vector<std::pair<std::string, std::string>> environment;
  int64_t exit_status = 0;      // as a shell reports it: 128 + number for a signal
  std::string standard_output;  // file; {node} in it is the node's number; empty: that of the job
  std::string where;            // "file:line" of its nodes, or of the table
};

struct scenario_job {
  std::vector<scenario_program> programs;  // empty: none
  int64_t timeout_s = 600;                 // of real time
};

// What is wrong with nodes and programs together, a line each; or nothing. `cluster` is what the command line made.
std::string check_job(const scenario_job& job, const cluster_config& cluster);
// The launcher takes this process's place; the status if it cannot.
int become_launcher(const scenario_job& job, const cluster_config& cluster);

}  // namespace ggas::bench
