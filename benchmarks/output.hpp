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
  // Tells of files that are incomplete, makes the report. Exit status.
  int finish();

 private:
  struct file {
    std::string name;
    std::ofstream out;
  };

  std::filesystem::path report_;
  std::vector<file> files_;
};

}  // namespace ggas::bench
