// SPDX-License-Identifier: Apache-2.0
// Which Verilated NICs a command line loads: ./ggas asks for them (--list-nics), so that it builds no others.
#pragma once

#include <set>
#include <string>

#include "benchmarks/cluster/command_line.hpp"

namespace ggas::bench {

// Modules, by the names of their targets. The error names the platform or the topology.
result<std::set<std::string>> nics_of(const command_line& line);

}  // namespace ggas::bench
