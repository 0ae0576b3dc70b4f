// SPDX-License-Identifier: Apache-2.0
// Repeats a run from its log: the same accesses at the same simulated time, the same answers of the guests' memory. If
// the new log differs from the old one, some input was not repeated.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace ggas::device {

// What the first line of a log says: how the rig was made.
struct log_header {
  std::string platform, faults;
  std::vector<std::string> settings;
  unsigned nodes = 2;
  uint64_t window_bytes = 0, seed = 1;

  std::string line() const;
  static std::expected<log_header, std::string> parse(const std::string& line);
};

struct replay_result {
  uint64_t lines = 0;  // of both logs
  uint64_t cycles = 0;
};

// `waves`: one file for each NIC, <stem>.node<n>.fst; empty: none. The error names the first line that differs, or the
// fault of a file.
std::expected<replay_result, std::string> replay(const std::filesystem::path& log, const std::filesystem::path& again,
                                                 const std::filesystem::path& waves);

}  // namespace ggas::device
