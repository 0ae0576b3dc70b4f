// SPDX-License-Identifier: Apache-2.0
// ggas-bench as several processes (--ranks): each simulates its part of the nodes (docs/simulator.md).
#pragma once

#include <memory>

#include "benchmarks/cluster/command_line.hpp"
#include "sim/ranks/ranks.hpp"

namespace ggas::bench {

// Ends MPI when it goes.
struct joined_ranks {
  std::unique_ptr<sim::ranks> all;  // nullptr: this process is alone
  bool speaks() const { return !all || all->number() == 0; }
};

// If --ranks requests several processes, this process becomes mpirun, which starts them. One of the started processes
// joins the others; all but the first then write nothing. Returns an exit status if that fails (message printed).
std::variant<joined_ranks, int> join_ranks(command_line& line, char** argv);

}  // namespace ggas::bench
