// SPDX-License-Identifier: Apache-2.0
// What the command line says of himeno: --grid and --steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ggas::bench {

struct himeno_options {
  struct size {
    uint32_t nx, ny, nz;
  };
  std::optional<size> grid;
  std::optional<uint32_t> steps;
};

// "128x192x64"; the error is the rule, with the nearest grid that keeps it.
std::string read_grid(const std::string& text, int nodes, himeno_options& to);
std::string read_steps(uint64_t steps, himeno_options& to);

}  // namespace ggas::bench
