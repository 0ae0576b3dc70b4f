// SPDX-License-Identifier: Apache-2.0
// The processes (ranks) that simulate one system together, each its part of the nodes (docs/simulator.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace ggas::sim {

class ranks {
 public:
  virtual ~ranks() = default;
  virtual unsigned number() const = 0;  // of this process, from 0
  virtual unsigned count() const = 0;

  // All ranks make the same calls in the same order. Returns the texts of all ranks, by rank.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  // `bytes` of rank `from` are written over those of the others, which have as many.
  virtual void copy(std::span<std::byte> bytes, unsigned from) = 0;

  // Neighbours stay together.
  unsigned owner(unsigned node, unsigned nodes) const { return unsigned(size_t{node} * count() / nodes); }
  // What rank `from` gives.
  std::string share(const std::string& mine, unsigned from) { return gather(number() == from ? mine : "")[from]; }
};

// The ranks of this process; nullptr: it simulates alone. Set before the first system.
ranks* process_ranks();
void process_ranks(ranks* all);

}  // namespace ggas::sim
