// SPDX-License-Identifier: Apache-2.0
// Runs the kernels of calls_waits.cuh and calls_notify.cuh on a machine of calls_run.hpp, which has brief_ns(), too.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/gpu_api/calls_notify.cuh"
#include "tests/gpu_api/calls_waits.cuh"

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

template <class Machine>
void run_waits(Machine& m, uint64_t rounds) {
  const wait_args a{m.data(), m.data() + 8192, m.outcomes(), rounds, 7, m.timeout_ns(), m.brief_ns()};
  run_found(m, 1, 96, wait_in_rounds, a, "wait_in_rounds");
  run_found(m, 1, 70, wait_in_rounds, a, "wait_in_rounds, a short warp");
  run_found(m, 1, 70, wait_for_nothing, a, "wait_for_nothing");
  run_found(m, 2, 96, tell_the_next_block, a, "tell_the_next_block");
}

template <class Machine>
void run_notifications(Machine& m, uint64_t count) {
  for (int queue = 0; queue < 4; ++queue) {
    const std::string ring = ", ring " + std::to_string(queue);
    notify_args a{m.data(),
                  m.data() + 32768,
                  m.data() + 65536,
                  m.outcomes(),
                  count,
                  static_cast<uint64_t>(queue),
                  m.timeout_ns(),
                  m.brief_ns(),
                  queue};
    run_found(m, 1, 64, notify_in_a_ring, a, "notify_in_a_ring" + ring);
    a.count = count / 4 + 1;
    run_found(m, 4, 33, notify_many_takers, a, "notify_many_takers" + ring);
    run_found(m, 1, 1, notify_refused, a, "notify_refused" + ring);
  }
}

}  // namespace ggas::calls
