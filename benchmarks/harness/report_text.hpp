// SPDX-License-Identifier: Apache-2.0
// What people see: tables, a progress line, closing lines.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "benchmarks/harness/description.hpp"
#include "benchmarks/harness/record.hpp"

namespace ggas::bench {

// One table of a benchmark's records, with provider, platform and seed in its heading.
std::string table(const description& b, const std::vector<record>& records);

// How close each method came to its bound: a bar for each, at the point where it came closest. Empty if no record has a
// bound.
std::string overview(const std::vector<record>& records);

// A line on stderr that is written over; silent unless stderr is a terminal.
class progress {
 public:
  explicit progress(size_t benchmarks);
  ~progress();
  void benchmark_done() { ++done_; }
  // sim_ns: simulated time so far; 0 where nothing is simulated.
  void show(const std::string& what, uint64_t sim_ns);
  void clear();

 private:
  bool terminal_;
  size_t total_, done_ = 0;
  std::chrono::steady_clock::time_point begin_, last_{};
  bool shown_ = false;
};

// Columns on a terminal: UTF-8 characters, not bytes.
size_t columns(const std::string& s);

}  // namespace ggas::bench
