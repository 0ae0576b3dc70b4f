// SPDX-License-Identifier: Apache-2.0
// Processor time of a piece of work, in nanoseconds.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdio>

namespace mpi_costs {

inline double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

// The least of several batches, each of which takes a millisecond at least.
template <class Work>
double time_of(Work work) {
  constexpr double batch_ns = 1e6;
  constexpr int batches = 15;
  const auto run = [&](long n) {
    const double begun = now_ns();
    for (long i = 0; i < n; ++i) work();
    return now_ns() - begun;
  };
  long n = 1;
  while (run(n) < batch_ns) n *= 2;
  double least = run(n);
  for (int i = 1; i < batches; ++i) least = std::min(least, run(n));
  return least / static_cast<double>(n);
}

template <class Work>
void print_time(const char* name, Work work) {
  std::printf("%s\t%.3f\n", name, time_of(work));
}

}  // namespace mpi_costs
