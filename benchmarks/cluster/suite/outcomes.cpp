// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/cluster/suite/outcomes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "benchmarks/plans/outcome_sum.hpp"

namespace ggas::bench {

result<outcome> join_outcomes(session& s, int node, uint64_t offset, size_t count, const std::string& what) {
  const outcome all = combine({at_offset<outcome>(s, node, offset), count});
  if (std::string text = complaint(all); !text.empty()) {
    const bool late = static_cast<ggas_status>(all.status) == ggas_timed_out;
    return failed(late ? errc::timed_out : errc::device_fault, fmt::format("{}: node {}: {}", what, node, text));
  }
  return all;
}

void read_samples(session& s, int node, uint64_t offset, size_t count, double factor, std::vector<double>& into) {
  const uint64_t* v = at_offset<uint64_t>(s, node, offset);
  for (size_t i = 0; i < count; ++i) into.push_back(static_cast<double>(v[i]) * factor);
}

shape usual_shape(unsigned threads) {
  const unsigned block = std::min(threads, usual_block);
  return {simt::dim3{(threads + block - 1) / block}, simt::dim3{block}};
}

}  // namespace ggas::bench
