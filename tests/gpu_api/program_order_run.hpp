// SPDX-License-Identifier: Apache-2.0
// Runs the litmus tests of program_order.cuh on a machine (machine.hpp, cuda/calls.hpp).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ggas/cluster.hpp"
#include "tests/gpu_api/program_order.cuh"

namespace ggas::program_order {

template <class Machine>
void run(Machine& m, void (*kernel)(args), unsigned blocks, unsigned threads, uint64_t rounds) {
  for (int n = 0; n < m.nodes(); ++n) m.write(n, m.data(), std::vector<uint8_t>(memory_bytes));
  const bool notifications = m.target().lacks_atomics().empty();
  m.run(blocks, threads, kernel, args{m.data(), m.outcomes(), rounds, m.timeout_ns(), notifications});
  for (int n = 0; n < m.nodes() && !testing::Test::HasFatalFailure(); ++n) {
    std::vector<bench::outcome> outcomes(blocks * threads);
    const auto raw = m.read(n, m.outcomes(), outcomes.size() * sizeof(bench::outcome));
    std::memcpy(outcomes.data(), raw.data(), raw.size());
    for (size_t t = 0; t < outcomes.size(); ++t) {
      ASSERT_EQ(outcomes[t].errors, 0u) << "node " << n << ", thread " << t << ", first case " << outcomes[t].begin_ns;
      ASSERT_EQ(outcomes[t].status, uint64_t{ggas_ok}) << "node " << n << ", thread " << t;
    }
  }
}

template <class Machine>
void run_all(Machine& m, uint64_t rounds) {
  static_assert(most_threads * 4 * sizeof(pair) <= memory_bytes);
  run(m, one_thread, 2, most_threads / 2, rounds);
  run(m, one_block, 2, most_threads / 2, rounds);
  run(m, two_blocks, 2, most_threads / 2, rounds);
  run(m, neighbours, 1, 64, rounds);
  run(m, results, 1, 64, 1 + rounds / 10);
}

}  // namespace ggas::program_order
