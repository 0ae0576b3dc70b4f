// SPDX-License-Identifier: Apache-2.0
// From what a benchmark on GPUs hands on to a result record.
#pragma once

#include <chrono>
#include <string>

#include "benchmarks/cuda/session.hpp"
#include "benchmarks/harness/record.hpp"

namespace ggas::bench {

class record_maker {
 public:
  record_maker(const description& b, const gpu_options& o, const std::string& platform)
      : benchmark_(b), options_(o), platform_(platform), before_(clock::now()) {}

  // The value is the median of the samples. The time since the figure before this one is the cost of the point.
  record make(const figure& f);

 private:
  using clock = std::chrono::steady_clock;
  const description& benchmark_;
  const gpu_options& options_;
  const std::string& platform_;
  clock::time_point before_;
};

}  // namespace ggas::bench
