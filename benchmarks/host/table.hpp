// SPDX-License-Identifier: Apache-2.0
// What rank 0 reports: columns in the manner of the OSU benchmarks, a line of JSON for each library and size.
#pragma once

#include <fstream>

#include "benchmarks/host/patterns.hpp"
#include "sim/trace/one_writer.hpp"

namespace ggas::host_bench {

// The samples of a library at a size, sorted.
struct samples {
  const means* of;
  std::vector<double> sorted;
  double median() const { return sorted[sorted.size() / 2]; }
};

// A JSON object a line. Throws `failure` where it cannot be written.
struct results_file {
  explicit results_file(const std::string& path);  // "": none
  trace::one_writer only;
  std::ofstream lines;
};

class table {
 public:
  explicit table(const std::string& json);  // as of results_file
  void begin(const pattern& p, const std::vector<const means*>& all);
  void row(size_t bytes, const std::vector<samples>& all);  // libggas first
  void end();

 private:
  struct ratio {
    double least = 0;
    size_t bytes = 0;
  };
  // How many times as good as another library: above 1 libggas is faster.
  double ratio_to(const samples& ours, const samples& theirs) const;

  std::string file_;
  results_file json_;
  const pattern* pattern_ = nullptr;
  std::vector<const means*> all_;
  std::vector<ratio> least_;  // of the libraries next to libggas
};

}  // namespace ggas::host_bench
