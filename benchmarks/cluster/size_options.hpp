// SPDX-License-Identifier: Apache-2.0
// Sizes that the command line gives: --grid and --steps of himeno, --table of random_access.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ggas::bench {

struct size_options {
  struct size {
    uint32_t nx, ny, nz;
  };
  std::optional<size> grid;
  std::optional<uint32_t> steps;
  std::optional<unsigned> log2_table;
};

// "128x192x64"; the error is the rule, with the nearest grid that keeps it.
std::string read_grid(const std::string& text, int nodes, size_options& to);
std::string read_steps(uint64_t steps, size_options& to);
// Words of all nodes; the error is the rule, with the nearest size that keeps it.
std::string read_table(uint64_t words, size_options& to);

}  // namespace ggas::bench
