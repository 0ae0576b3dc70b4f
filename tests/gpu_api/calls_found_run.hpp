// SPDX-License-Identifier: Apache-2.0
// Runs kernels that say what they found on a machine of calls_run.hpp, which has brief_ns() and has_nic(), too.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/gpu_api/calls_found.cuh"

namespace ggas::calls {

template <class Machine>
void check_found(Machine& m, unsigned threads, const std::string& what) {
  for (int k = 0; k < m.nodes(); ++k) {
    const auto raw = m.read(k, m.outcomes(), threads * sizeof(bench::outcome));
    for (unsigned t = 0; t < threads; ++t) {
      bench::outcome o;
      std::memcpy(&o, raw.data() + t * sizeof o, sizeof o);
      ASSERT_EQ(o.errors, 0u) << what << ", node " << k << ", thread " << t << ": line " << o.begin_ns << ", status "
                              << o.end_ns;
    }
  }
}

// The room for data is zero before.
template <class Machine, class Args>
void run_found(Machine& m, unsigned blocks, unsigned threads, void (*kernel)(Args), const Args& a,
               const std::string& what) {
  for (int k = 0; k < m.nodes(); ++k) m.write(k, m.data(), std::vector<uint8_t>(96 * 1024));
  m.run(blocks, threads, kernel, a);
  check_found(m, blocks * threads, what);
}

}  // namespace ggas::calls
