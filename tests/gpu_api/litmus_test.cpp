// SPDX-License-Identifier: Apache-2.0
// Device API: litmus tests of the memory model on the host engine and in the simulator; on GPUs: cuda/litmus.cu.
#include "tests/gpu_api/litmus.cuh"

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_API_SUITE(Litmus);

constexpr uint64_t ready_at = 0, outcomes_at = 1024, x_at = 16384, y_at = 81920, results_at = 147456;

// Through a NIC order holds along one pair of nodes: both words lie on one node, and a fence does not complete stores.
bool promised(const litmus::description& t, litmus::order o, bool simulated) {
  if (simulated && (t.weakest == litmus::order::fence || t.roles > 2)) return false;
  return o >= t.weakest;
}

TEST_P(Litmus, ForbiddenOutcomesDoNotHappen) {
  const unsigned threads = 64;
  const uint64_t rounds = simulated() ? 3 : GetParam().threads ? 60 : 8;
  uint64_t done = 0;
  for (const litmus::description& t : litmus::all_tests) {
    for (auto o : {litmus::order::relaxed, litmus::order::acq_rel, litmus::order::fence}) {
      if (simulated() && !promised(t, o, true)) continue;
      for (int placed = 0; placed < (simulated() ? 2 : 3); ++placed) {
        const int x_node = placed == 1 ? nodes() - 1 : 0, y_node = placed == 0 ? 0 : nodes() - 1;
        for (int n = 0; n < nodes(); ++n) std::fill_n(user<uint64_t>(n, x_at), (results_at - x_at) / 8, 0);
        const litmus::args a{t.test,
                             base() + x_at,
                             base() + y_at,
                             x_node,
                             y_node,
                             base() + results_at,
                             base() + ready_at,
                             base() + outcomes_at,
                             done,
                             rounds,
                             7 + done,
                             enough()};
        const auto blocks = static_cast<unsigned>((t.roles + nodes() - 1) / nodes());
        on_all(blocks, threads, [a, o, &t] { litmus::kernel_of(o)(a, t.roles); });
        run();
        done += rounds;
        uint64_t weak = 0;
        for (uint64_t i = 0; i < rounds * threads; ++i) {
          litmus::run_result f{};
          for (int r = 0; r < t.roles; ++r)
            f.role[r] = user<uint32_t>(r % nodes(), results_at)[static_cast<uint64_t>(r) * rounds * threads + i];
          f.x = user<uint64_t>(x_node, x_at)[i * litmus::spacing / 8];
          f.y = user<uint64_t>(y_node, y_at)[i * litmus::spacing / 8];
          weak += litmus::is_weak(t.test, f);
        }
        if (promised(t, o, simulated()))
          EXPECT_EQ(weak, 0u) << t.name << ", " << litmus::name_of(o) << ": " << t.program << ": " << t.weak;
      }
    }
  }
}

}  // namespace
}  // namespace ggas::test
