// SPDX-License-Identifier: Apache-2.0
// Faults of wires and nodes, from a script and from a seed. Script: one fault a line, '#' begins a comment.
//
//   <wire> drop|corrupt|duplicate at <flit index> [count <n>]
//   <wire> drop|corrupt|duplicate rate <probability>
//   <wire> cut from <us> [to <us>]
//   node <number> dead from <us>
//
// <wire> is its name ("0->1") or '*'. The index counts the flits sent on that wire from 0; a rate applies to every flit
// and draws from the seed; a cut drops every flit and removes the carrier. A dead node has all its wires cut for good,
// and its programs are gone.
#pragma once

#include <cstdint>
#include <expected>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fabric/topology.hpp"

namespace ggas::fabric {

enum class fault_kind : uint8_t { none, drop, corrupt, duplicate, cut, dead_node };

struct fault {
  fault_kind kind = fault_kind::none;
  unsigned bit = 0;  // corrupt: which bit flips, modulo the flit's width
};

struct fault_rule {
  std::string wire = "*";
  fault_kind kind = fault_kind::drop;
  bool by_rate = false;
  uint64_t first = 0, count = 1;  // by index
  double rate = 0;                // by rate
  static constexpr uint64_t never = ~uint64_t(0);
  uint64_t from_ps = 0, to_ps = never;  // cut, dead node
  unsigned node = 0;                    // dead node
  unsigned line = 0;                    // of the script
};

// The rules of a script, or what is wrong with which line.
std::expected<std::vector<fault_rule>, std::string> parse_faults(std::string_view script, std::string_view file_name);

// A wire is named after the nodes that it leads from and to.
std::string wire_name(unsigned from, unsigned to);

// What these rules do to the wires of a network. The error names a wire or node that is not there.
std::expected<std::vector<fault_rule>, std::string> faults_of_wires(const std::vector<fault_rule>& rules,
                                                                    const topology& shape, std::string_view file_name);

class fault_injector {
 public:
  // Takes the rules that name this wire. The same seed and wire give the same faults.
  fault_injector(const std::vector<fault_rule>& rules, std::string_view wire, uint64_t seed);
  bool empty() const { return rules_.empty(); }
  std::vector<fault_rule> cuts() const;
  // What happens to the flit of that index, sent at that time.
  fault next(uint64_t index, uint64_t now_ps);

 private:
  std::vector<fault_rule> rules_;
  std::mt19937_64 random_;
};

}  // namespace ggas::fabric
