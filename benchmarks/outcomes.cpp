// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/outcomes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ggas::bench {

result<outcome> join_outcomes(session& s, int node, uint64_t offset, size_t count, const std::string& what) {
  const outcome* o = at_offset<outcome>(s, node, offset);
  outcome all = o[0];
  for (size_t i = 1; i < count; ++i) {
    all.begin_ns = std::min(all.begin_ns, o[i].begin_ns);
    all.end_ns = std::max(all.end_ns, o[i].end_ns);
    all.errors += o[i].errors;
    if (all.status == ggas_ok) all.status = o[i].status;
  }
  const auto status = static_cast<ggas_status>(all.status);
  if (status != ggas_ok) {
    return failed(status == ggas_timed_out ? errc::timed_out : errc::device_fault,
                  fmt::format("{}: node {}: {}", what, node, ggas_status_text(status)));
  }
  if (all.errors != 0) {
    return failed(errc::device_fault,
                  fmt::format("{}: node {}: verification failed, {} wrong values", what, node, all.errors));
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
