// SPDX-License-Identifier: Apache-2.0
// Where results go: files of JSON lines, the HTML report.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/harness/record.hpp"
#include "sim/trace/whole_file.hpp"

namespace ggas::bench {

class output {
 public:
  // Opens the result files and makes missing folders. An empty path means no file. Returns the error, or nothing.
  // `power` is the file of the power over time.
  std::string open(const std::filesystem::path& json, const std::filesystem::path& report,
                   const std::filesystem::path& power = {});
  // `wall`: wall-clock times too.
  void write(const record& r, bool wall);
  // Power over time as CSV, to the file that was opened for it, if any; the report plots it.
  void power(const std::string& csv);
  // Reports of files that are incomplete, makes the report of what there is. Exit status.
  int finish();

 private:
  int make_report() const;

  std::filesystem::path report_, power_;
  trace::one_writer report_folder_;                        // also while the page is made
  std::vector<std::unique_ptr<trace::whole_file>> files_;  // of records
  std::unique_ptr<trace::whole_file> power_file_;
  bool empty_ = true;  // no record yet
};

// To standard output; an error waits for end_of_output().
void say(const std::string& text);
// Reports if standard output did not take everything. `status`, or that of a failure in place of success.
int end_of_output(int status);

}  // namespace ggas::bench
