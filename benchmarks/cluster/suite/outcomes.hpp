// SPDX-License-Identifier: Apache-2.0
// Reading what kernels found.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/cluster/runner.hpp"
#include "benchmarks/kernels/common.cuh"
#include "benchmarks/kernels/layout_plan.hpp"

namespace ggas::bench {

template <class T>
T* at_offset(session& s, int node, uint64_t offset) {
  return reinterpret_cast<T*>(s.machine().segment(node) + offset);
}

// The outcomes of one node taken together; an error if a thread saw a bad status or a wrong value.
result<outcome> join_outcomes(session& s, int node, uint64_t offset, size_t count, const std::string& what);

// Appends `count` durations, each multiplied by `factor`.
void read_samples(session& s, int node, uint64_t offset, size_t count, double factor, std::vector<double>& into);

// Largest block of the device API's usual shape: blocks of 64 threads, as the original benchmarks.
inline constexpr unsigned usual_block = 64;
struct shape {
  simt::dim3 grid, block;
};
shape usual_shape(unsigned threads);

}  // namespace ggas::bench
