// SPDX-License-Identifier: Apache-2.0
// The outcomes of many threads taken together.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "benchmarks/kernels/common.cuh"

namespace ggas::bench {

// First begin, last end, all errors, the first bad status. `each` is not empty.
inline outcome combine(std::span<const outcome> each) {
  outcome all = each.front();
  for (const outcome& o : each.subspan(1)) {
    all.begin_ns = std::min(all.begin_ns, o.begin_ns);
    all.end_ns = std::max(all.end_ns, o.end_ns);
    all.errors += o.errors;
    if (all.status == ggas_ok) all.status = o.status;
  }
  return all;
}

// What is wrong with an outcome; empty: nothing.
inline std::string complaint(const outcome& o) {
  if (o.status != ggas_ok) return ggas_status_text(static_cast<ggas_status>(o.status));
  if (o.errors != 0) return "verification failed, " + std::to_string(o.errors) + " wrong values";
  return {};
}

}  // namespace ggas::bench
