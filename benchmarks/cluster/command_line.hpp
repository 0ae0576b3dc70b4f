// SPDX-License-Identifier: Apache-2.0
// The command line of ggas-bench.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "benchmarks/cluster/programs.hpp"
#include "benchmarks/cluster/runner.hpp"

namespace ggas::bench {

struct command_line {
  options opts;
  std::vector<const benchmark*> chosen;
  bool suite = false;  // a whole suite: what the provider cannot do is skipped
  bool list = false;
  bool list_nics = false;  // only say which Verilated NICs would be loaded
  bool check = false;      // only say what is wrong
  bool wall = false;
  bool nodes_given = false, timeout_given = false;
  uint64_t seeds = 1;
  std::filesystem::path json, report, state;  // empty: none
  bool states = false;                        // the state is read, whichever program writes it
  int ranks = 0;                              // processes; 0: as many as a launcher has started, else one
  scenario_job job;                           // programs of the scenario, after the benchmarks
  std::filesystem::path hosts;                // where they run; empty: here
  std::filesystem::path trace_file;           // that `trace` runs
};

// The parsed command line, or an exit status if the program should end (0: help was printed; 2: bad input, message
// printed). `environment`: result of switches_of_environment() before this program changed it.
std::variant<command_line, int> parse_command_line(int argc, char** argv,
                                                   const std::vector<std::pair<std::string, std::string>>& environment);

// The text of `list`.
std::string list_text();

}  // namespace ggas::bench
