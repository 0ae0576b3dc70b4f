// SPDX-License-Identifier: Apache-2.0
// Where results go: files of JSON lines, the HTML report.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "benchmarks/record.hpp"

namespace ggas::bench {

class output {
 public:
  // Opens the result files; their folders are made if need be. Empty paths: none. What cannot be written, or nothing.
  std::string open(const std::filesystem::path& json, const std::filesystem::path& report);
  // `wall`: wall-clock times too.
  void write(const record& r, bool wall);
  // Completes the files and makes the report. Exit status.
  int finish();

 private:
  std::filesystem::path report_;
  std::vector<std::ofstream> files_;
};

}  // namespace ggas::bench
