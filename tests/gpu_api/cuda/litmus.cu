// SPDX-License-Identifier: Apache-2.0
// Litmus tests of the memory model on real GPUs: every role on a GPU of its own where there are enough.
#include "tests/gpu_api/litmus.cuh"

#include <cstdio>

#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

constexpr unsigned threads = 256;
constexpr uint64_t rounds = 4096;  // a million runs

class litmus_rig : public rig {
 protected:
  // Weak outcomes of one test with one order, words at these nodes.
  uint64_t weak_outcomes(const litmus::description& t, litmus::order o, int x_node, int y_node) {
    SetUp();  // words and flags are zero
    const uint64_t results = at.data + (32u << 20);
    const litmus::args a{
        t.test,    at.data, at.copy, x_node, y_node, results, at.base, at.outcomes, 0, rounds, 1 + x_node + 2u * y_node,
        timeout_ns};
    const auto blocks = static_cast<unsigned>((t.roles + nodes() - 1) / nodes());
    start_all(blocks, threads, litmus::kernel_of(o), a, t.roles);
    run(t.name);
    std::vector<std::vector<uint32_t>> found;
    for (int r = 0; r < t.roles; ++r)
      found.push_back(read<uint32_t>(r % nodes(), results + static_cast<uint64_t>(r) * runs * 4, runs));
    const auto x = read<uint64_t>(x_node, at.data, runs * litmus::spacing / 8);
    const auto y = read<uint64_t>(y_node, at.copy, runs * litmus::spacing / 8);
    uint64_t weak = 0;
    for (uint64_t i = 0; i < runs; ++i) {
      litmus::run_result f{};
      for (int r = 0; r < t.roles; ++r) f.role[r] = found[static_cast<size_t>(r)][i];
      f.x = x[i * litmus::spacing / 8];
      f.y = y[i * litmus::spacing / 8];
      weak += litmus::is_weak(t.test, f);
    }
    return weak;
  }
  static constexpr uint64_t runs = rounds * threads;
};

TEST_F(litmus_rig, forbidden_outcomes_do_not_happen) {
  const int last = nodes() - 1;
  for (const litmus::description& t : litmus::all_tests) {
    for (auto o : {litmus::order::relaxed, litmus::order::acq_rel, litmus::order::fence}) {
      uint64_t weak[3];
      for (int placed = 0; placed < 3; ++placed) {
        weak[placed] = weak_outcomes(t, o, placed == 1 ? last : 0, placed == 0 ? 0 : last);
        if (o >= t.weakest) EXPECT_EQ(weak[placed], 0u) << t.name << ", " << litmus::name_of(o);
      }
      std::printf("%-5s %-17s %-30s weak (%s): %llu %llu %llu of %llu, %s\n", t.name, litmus::name_of(o), t.program,
                  t.weak, static_cast<unsigned long long>(weak[0]), static_cast<unsigned long long>(weak[1]),
                  static_cast<unsigned long long>(weak[2]), static_cast<unsigned long long>(runs),
                  o >= t.weakest ? "forbidden" : "allowed");
    }
  }
}

}  // namespace
}  // namespace ggas::gpu_test
