// SPDX-License-Identifier: Apache-2.0
// One seed is one sample: records of several seeds become one, with the median and how far the seeds are apart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchmarks/harness/record.hpp"

namespace ggas::bench {

class seed_records {
 public:
  // Adds a record of any seed. Records of the same point belong together.
  void add(record r);
  // A record for each point, in order of appearance: medians over the seeds that had it, sums of cost and samples.
  std::vector<record> merged() const;

 private:
  std::map<std::string, size_t> places_;     // by what a point is
  std::vector<std::vector<record>> points_;  // the records of a point, a seed each
};

}  // namespace ggas::bench
