// SPDX-License-Identifier: Apache-2.0
// The simulated cluster of a job: a node for each rank, whose pinned host memory and memory of the GPU are the rank's.
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/system.hpp"
#include "userlib/libggas/sim/protocol.hpp"

namespace ggas::simulator {

struct node_options {
  std::string platform = "galibier-k20";
  std::vector<std::string> settings;  // table.key=value over the platform's file
  std::string nic = "model";          // or rtl
  std::string topology = "auto";
  uint64_t seed = 1;
  std::vector<std::string> faults;  // lines of a fault script (sim/fabric/faults.hpp)
};

// Bytes of a rank's memory, in whole pages of the translation: the host memory of the platform, and the largest GPU
// memory with which the windows of a thousand nodes fit. The error names the input.
struct memory_sizes {
  uint64_t host, gpu;
  uint64_t both() const { return host + gpu; }
};
std::expected<memory_sizes, std::string> memory_of_a_rank(const node_options& o);

// Network logical address of the first byte of a rank's memory; the same on all nodes.
uint64_t address_of_memory();

// Builds the nodes around memories of memory_of_a_rank().both() bytes, and programs their NICs as a driver does.
std::expected<std::unique_ptr<sim::system>, std::string> build(const node_options& o,
                                                               const std::vector<std::span<std::byte>>& memories);

}  // namespace ggas::simulator
