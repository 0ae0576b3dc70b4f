// SPDX-License-Identifier: Apache-2.0
// The patterns: each call is one sample, taken by all ranks together; rank 0 has the time.
#pragma once

#include "benchmarks/host/means.hpp"

namespace ggas::host_bench {

enum class kind { time, rate, time_of_all };  // of two ranks: less is better, more is better; of all ranks

struct pattern {
  const char* name;
  const char* unit;
  size_t least, most;  // bytes; both 0: of no size
  double (*sample)(means&, size_t bytes, unsigned rounds);
  kind is;
};

// Messages in flight in the patterns of bandwidth and rate.
inline constexpr unsigned window = 64;
// Largest size of all.
inline constexpr size_t most_bytes = 4 << 20;

extern const pattern patterns[6];

// Sends known bytes both ways and looks at them, after the samples of a size.
void check_data(means&, size_t bytes);

}  // namespace ggas::host_bench
