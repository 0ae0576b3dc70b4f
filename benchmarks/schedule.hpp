// SPDX-License-Identifier: Apache-2.0
// Schedules of communication and computation in the text format GOAL (Group Operation Assembly Language): for each
// rank what it sends, receives and computes, and what waits for what. docs/how-to/run-a-trace.md has the grammar.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace ggas::bench {

struct schedule_op {
  enum class kind : uint8_t { send, recv, calc };
  kind what = kind::calc;
  uint64_t amount = 0;    // bytes; calc: ns
  uint32_t peer = 0;      // send, recv
  uint32_t tag = 0;
  uint32_t cpu = 0;       // calc: computations of one run one after the other
  uint32_t waits = 0;     // for so many others
  unsigned line = 0;      // of the file
  std::vector<uint32_t> at_end, at_begin;  // operations of this rank that wait for its end, its begin
};

struct schedule {
  std::vector<std::vector<schedule_op>> ranks;
  uint64_t largest = 0;  // message, bytes
  uint64_t messages = 0, bytes = 0;
};

// What is wrong is told as "file:line: rule". A schedule that is returned has no circle, and each message that is sent
// is received with the same size.
std::expected<schedule, std::string> read_schedule(const std::filesystem::path& file);

}  // namespace ggas::bench
