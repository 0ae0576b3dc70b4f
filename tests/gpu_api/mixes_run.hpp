// SPDX-License-Identifier: Apache-2.0
// The sequential model of mixes.cuh, and random mixes on a machine (machine.hpp, cuda/calls.hpp) against it.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <iostream>
#include <vector>

#include "tests/gpu_api/mixes.cuh"
#include "tests/support/number_of.hpp"

namespace ggas::mixes {

struct model_cell {
  char* bytes;
  template <class T>
  void store(unsigned at, T v, access) const {
    std::memcpy(bytes + at, &v, sizeof v);
  }
  template <class T>
  T load(unsigned at, access) const {
    T v;
    std::memcpy(&v, bytes + at, sizeof v);
    return v;
  }
  template <class T>
  T update(unsigned at, T v) const {
    const T next(static_cast<uint64_t>(load<T>(at, {})) * 3 + static_cast<uint64_t>(v));
    store(at, next, {});
    return next;
  }
  uint32_t atomic(access what, unsigned word, uint32_t v) const {
    const auto old = load<uint32_t>(4 * word, {});
    if (what == access::add) store(4 * word, old + v, {});
    if (what == access::exchange || (what == access::compare_swap && (v % 2 || old == v))) store(4 * word, v, {});
    return old;
  }
  void wait(access, unsigned) const {}
};

struct model {
  std::vector<char> memory = std::vector<char>(2 * cells_bytes);
  std::array<uint64_t, threads> sums{};
  uint64_t mixes = 0;

  void play(uint64_t seed, uint64_t phases) {
    for (unsigned t = 0; t < threads; ++t) sums[t] = t;
    for (uint64_t number = 0; number < phases; ++number) {
      const phase p(seed, number);
      for (unsigned step = 0; step < p.steps(); ++step)
        for (unsigned t = 0; t < threads; ++t, ++mixes)
          one_mix(model_cell{memory.data() + p.cell(t, step) * cell_bytes}, draw_of(seed, number, step, t), sums[t]);
      char *const cells = memory.data(), *const copy = cells + cells_bytes;
      if (p.end() == ending::store_block || p.end() == ending::put) std::memcpy(copy, cells, cells_bytes);
      if (p.end() == ending::load_block || p.end() == ending::get) std::memcpy(cells, copy, cells_bytes);
    }
  }
};

// From a seed on, kernels of some hundred phases, until there were that many mixes: GGAS_SEED, GGAS_TEST_MIXES.
template <class Machine>
void run_mixes(Machine& m, uint64_t usual) {
  const uint64_t first = test::seed(), wanted = test::number_of("GGAS_TEST_MIXES", usual);
  uint64_t done = 0, seed = first;
  for (; done < wanted && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    model want;
    want.play(seed, 100);
    for (int n = 0; n < m.nodes(); ++n) m.write(n, m.data(), std::vector<uint8_t>(2 * cells_bytes));
    m.run(1, threads, play, args{m.data(), m.tables(), m.outcomes(), seed, 100, m.timeout_ns()});
    for (int n = 0; n < m.nodes() && !testing::Test::HasFatalFailure(); ++n) {
      const auto sums = m.read(n, m.tables(), sizeof want.sums);
      for (unsigned t = 0; t < threads; ++t) {
        uint64_t sum;
        std::memcpy(&sum, sums.data() + t * sizeof sum, sizeof sum);
        ASSERT_EQ(sum, want.sums[t]) << "node " << n << ", what thread " << t << " found";
      }
      const auto cells = m.read(n, m.data(), want.memory.size());
      ASSERT_EQ(std::memcmp(cells.data(), want.memory.data(), cells.size()), 0) << "node " << n << ", what is left";
    }
    done += want.mixes;
  }
  std::cout << "seeds " << first << " to " << seed - 1 << ", " << done << " mixes\n";
}

}  // namespace ggas::mixes
