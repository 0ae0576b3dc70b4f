// SPDX-License-Identifier: Apache-2.0
// The simulated cluster of a job: a node for each rank, whose pinned host memory is the rank's.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/system.hpp"
#include "userlib/library/sim/protocol.hpp"

namespace ggas::simulator {

struct node_options {
  std::string platform = "galibier-k20";
  std::vector<std::string> settings;  // table.key=value over the platform's file
  std::string nic = "model";          // or rtl
  std::string topology = "auto";
  uint64_t seed = 1;
};

// Bytes of a rank's memory: what the platform's hosts have, in whole pages of the translation. The error names the
// input.
std::expected<uint64_t, std::string> memory_of_a_rank(const node_options& o);

// Network logical address of the first byte of a rank's memory; the same on all nodes.
uint64_t address_of_memory();

// Builds the nodes around memories of memory_of_a_rank() bytes, and programs their NICs as a driver does.
std::expected<std::unique_ptr<sim::system>, std::string> build(const node_options& o,
                                                               const std::vector<std::span<std::byte>>& memories);

}  // namespace ggas::simulator
