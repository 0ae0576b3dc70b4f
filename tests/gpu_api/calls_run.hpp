// SPDX-License-Identifier: Apache-2.0
// Runs tables of calls.cuh on a machine and compares. A machine has nodes(), segment_bytes(), timeout_ns(), the offsets
// tables(), outcomes() and data(), write(node, offset, bytes), read(node, offset, count), and run(blocks, threads,
// kernel, argument), which runs a grid on every node.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/gpu_api/calls_reference.hpp"

namespace ggas::calls {

inline std::string text_of(const step& s, const char* name) {
  return std::string(name) + ": " + std::to_string(s.n) + " of " + std::to_string(s.bytes) + " bytes, node " +
         std::to_string(s.node) + ", here " + std::to_string(s.here) + ", there " + std::to_string(s.there) +
         ", strides " + std::to_string(s.here_stride) + " and " + std::to_string(s.there_stride) + ", thread " +
         std::to_string(s.actor) + ", queue " + std::to_string(s.queue) + ", finish " +
         std::to_string(static_cast<int>(s.behind)) + ", operation " + std::to_string(s.operation) + ", wanted " +
         ggas_status_text(s.want);
}

template <class Machine, size_t Calls>
class table_run {
 public:
  table_run(Machine& machine, const description (&calls)[Calls], unsigned threads)
      : machine_(machine), calls_(calls), threads_(threads), at_{machine.data()} {}

  void run(void (*kernel)(args), uint64_t seed, uint64_t count) {
    count_ = count;
    const int nodes = machine_.nodes();
    memory wanted(seed, nodes, at_);
    steps_.clear();
    names_.clear();
    for (int k = 0; k < nodes; ++k) machine_.write(k, at_.begin, wanted.of(k));
    for (int k = 0; k < nodes; ++k) make(seed, k, wanted);
    machine_.run(1, threads_, kernel, args{machine_.tables(), count, machine_.outcomes(), machine_.timeout_ns()});
    for (int k = 0; k < nodes && !testing::Test::HasFatalFailure(); ++k) check_outcomes(k);
    for (int k = 0; k < nodes && !testing::Test::HasFatalFailure(); ++k) check_memory(k, wanted);
  }

 private:
  // Every call comes, in random order.
  void make(uint64_t seed, int node, memory& wanted) {
    table_maker maker(seed * 64 + static_cast<uint64_t>(node), node, machine_.nodes(), threads_,
                      machine_.segment_bytes(), at_);
    std::vector<step> mine;
    for (uint64_t i = 0; i < count_; ++i) {
      const description& d = calls_[(i + i / Calls * (1 + seed % 5) + static_cast<uint64_t>(node)) % Calls];
      mine.push_back(maker.make(d));
      steps_.push_back(mine.back());
      names_.push_back(d.name);
      wanted.apply(node, mine.back(), d.of, steps_.size());
    }
    std::vector<uint8_t> raw(mine.size() * sizeof(step));
    std::memcpy(raw.data(), mine.data(), raw.size());
    machine_.write(node, machine_.tables(), raw);
  }

  std::string step_text(uint64_t number) const {
    return "node " + std::to_string((number - 1) / count_) + ", step " + std::to_string((number - 1) % count_) + ", " +
           text_of(steps_[number - 1], names_[number - 1]);
  }

  void check_outcomes(int node) {
    const auto raw = machine_.read(node, machine_.outcomes(), threads_ * sizeof(bench::outcome));
    for (unsigned t = 0; t < threads_; ++t) {
      bench::outcome o;
      std::memcpy(&o, raw.data() + t * sizeof o, sizeof o);
      const uint64_t number = static_cast<uint64_t>(node) * count_ + o.begin_ns;
      ASSERT_EQ(o.errors, 0u) << "thread " << t << ": status " << o.end_ns << ": "
                              << (o.begin_ns >= 1 && o.begin_ns <= count_ ? step_text(number) : "");
      ASSERT_EQ(o.status, static_cast<uint64_t>(ggas_ok)) << "waiting for a step to be complete, node " << node;
    }
  }

  void check_memory(int node, const memory& wanted) {
    const std::vector<uint8_t>& want = wanted.of(node);
    const auto got = machine_.read(node, at_.begin, want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(got[i], want[i]) << "node " << node << ", offset " << at_.begin + i << ", last written by "
                                 << (wanted.writer(node, i) ? step_text(wanted.writer(node, i)) : "nobody");
    }
  }

  Machine& machine_;
  const description (&calls_)[Calls];
  unsigned threads_;
  area at_;
  uint64_t count_ = 0;
  std::vector<step> steps_;
  std::vector<const char*> names_;
};

// Whole warps, and a block whose last warp is short.
template <class Machine, size_t Calls>
void run_tables(Machine& machine, const description (&calls)[Calls], void (*kernel)(args), uint64_t tables,
                uint64_t steps) {
  for (uint64_t seed = 1; seed <= tables && !testing::Test::HasFatalFailure(); ++seed)
    table_run(machine, calls, seed % 2 ? 96 : 70).run(kernel, seed, steps);
}

}  // namespace ggas::calls
