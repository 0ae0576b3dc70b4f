// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/state.hpp"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace ggas::bench {

namespace {

// FNV-1a over words of 8 bytes.
uint64_t digest(const std::byte* from, size_t bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, from + at, sizeof word);
    sum = (sum ^ word) * 0x100000001b3;
  }
  return sum;
}

}  // namespace

std::string state_of(cluster& c, const std::string& point) {
  std::string out;
  const uint64_t now = c.now_ns();
  for (int node = 0; node < c.config().nodes; ++node) {
    const nlohmann::ordered_json line = {
        {"point", point},
        {"now_ns", now},
        {"node", node},
        {"memory", fmt::format("{:016x}", digest(c.segment(node), c.config().segment_bytes))},
        {"counters", c.counters(node)}};
    out += line.dump() + "\n";
  }
  return out;
}

}  // namespace ggas::bench
