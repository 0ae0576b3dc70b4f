// SPDX-License-Identifier: Apache-2.0
// The device API on real GPUs: one cluster of all GPUs, driven by this process, serves all tests of the program. A test
// is a TEST_F(rig, ...) of any .cu file of the program; every test finds all segments zero, as in a new cluster.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

#include "benchmarks/kernels/common.cuh"
#include "ggas/cluster.hpp"
#include "ggas/launch.hpp"

namespace ggas::gpu_test {

using bench::outcome;
using bench::own;
using bench::pattern;

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t timeout_ns = 5 * second;  // of a wait in a kernel
constexpr size_t segment_bytes = 256u << 20;

// Where tests keep things: offsets in every segment. Kernels get it as an argument.
struct places {
  uint64_t base;      // flags and counters, 1 MB
  uint64_t outcomes;  // an outcome for each thread, 4 MB
  uint64_t samples;   // durations, 1 MB
  uint64_t data;      // 64 MB
  uint64_t copy;      // 64 MB
  explicit places(uint64_t reserved)
      : base(reserved),
        outcomes(base + (1 << 20)),
        samples(base + (5 << 20)),
        data(base + (6 << 20)),
        copy(base + (70 << 20)) {}
};

// Number of repetitions of a test: under tools that slow kernels down GGAS_TEST_ROUNDS sets fewer than the usual
// number.
inline unsigned rounds_of(unsigned usual) {
  const char* const most = std::getenv("GGAS_TEST_ROUNDS");
  return most ? std::min(usual, static_cast<unsigned>(std::max(1, std::atoi(most)))) : usual;
}

cluster& machine();
inline char* segment(int node) { return reinterpret_cast<char*>(machine().segment(node)); }

// Whether a call was refused for its arguments.
inline bool refused(const result<>& r) { return !r && r.error().code == errc::bad_argument; }

class rig : public testing::Test {
 protected:
  rig() : at(machine().device_context(0).reserved) {}
  void SetUp() override;  // zeroes all segments

  static int nodes() { return machine().nodes(); }

  // Queues a kernel on a node. Outcomes of its threads are set to all ones before, so that a kernel that did not run
  // leaves wrong outcomes.
  template <class... P>
  void start(int node, unsigned blocks, unsigned threads, void (*kernel)(P...), std::type_identity_t<P>... args) {
    spoil_outcomes(node, size_t{blocks} * threads);
    ok(ggas::launch(machine(), node, blocks, threads, kernel, args...), "launch");
  }
  template <class... P>
  void start_all(unsigned blocks, unsigned threads, void (*kernel)(P...), std::type_identity_t<P>... args) {
    for (int n = 0; n < nodes(); ++n) start(n, blocks, threads, kernel, args...);
  }
  // Waits for all nodes. If a kernel does not end, nothing more can be done with these GPUs: ends the program.
  void run(const std::string& what);
  // The outcomes of a kernel of `count` threads: all good.
  void check_outcomes(int node, size_t count, const std::string& what);
  void check_all_outcomes(size_t count, const std::string& what);

  // Copies of n elements from and to a segment while kernels may run: a cudaMemcpy would wait for a running kernel, and
  // that kernel may wait for another one that is not launched yet.
  template <class T>
  std::vector<T> read(int node, uint64_t offset, size_t n) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> v(n);
    ok(machine().read(node, offset, v.data(), n * sizeof(T)), "read");
    return v;
  }
  template <class T>
  void write(int node, uint64_t offset, const std::vector<T>& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    ok(machine().write(node, offset, v.data(), v.size() * sizeof(T)), "write");
  }
  static void ok(cudaError_t e, const char* what) {
    EXPECT_EQ(e, cudaSuccess) << what << ": " << cudaGetErrorString(e);
  }
  static void ok(const result<>& r, const char* what) { EXPECT_EQ(text_of(r), "") << what; }
  template <class T>
  static T median(std::vector<T> v) {
    std::nth_element(v.begin(), v.begin() + static_cast<ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  }

  const places at;

 private:
  void spoil_outcomes(int node, size_t count);
};

// In a test that needs other nodes.
#define GGAS_NEEDS_NODES(n) \
  if (nodes() < (n)) GTEST_SKIP() << "needs " << (n) << " GPUs"

}  // namespace ggas::gpu_test
