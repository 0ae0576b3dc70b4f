// SPDX-License-Identifier: Apache-2.0
// Divergent loops around every call with a pointer of a node, on the host engine and in the simulator; on GPUs:
// cuda/divergent.cu.
#include "tests/gpu_api/divergent_run.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

using namespace ggas::divergent;

GGAS_API_SUITE(Divergent);

constexpr uint64_t outcomes_at = 0, own_at = 8192, cells_at = 16384;  // room for 128 threads of a node

void check_outcomes(const bench::outcome* found, unsigned threads, int number) {
  for (unsigned t = 0; t < threads; ++t) {
    EXPECT_EQ(found[t].status, ggas_ok) << "call " << number << ", thread " << t;
    EXPECT_EQ(found[t].errors, 0u) << "call " << number << ", thread " << t;
  }
}

TEST_P(Divergent, EveryCallReachesTheNodeThatIsMeant) {
  for (int number = 0; number < divergent::calls; ++number) {
    const auto what = static_cast<call>(number);
    const bool few = simulated() || what == call::put_notify;
    const unsigned threads = few ? 8 : 64;
    const uint64_t items = few ? 1 : 2, all = uint64_t{threads} * static_cast<uint64_t>(nodes());
    make(GetParam().config());
    const auto want = cells_with_values(all, items, nodes(), what);
    if (reads(number))
      for (int n = 0; n < nodes(); ++n) std::ranges::copy(want[static_cast<size_t>(n)], user<words>(n, cells_at));
    const args a{base() + cells_at, base() + own_at, base() + outcomes_at, items, enough()};
    on_all(1, threads, [=] { kernel_of(number)(a); });
    run();
    for (int n = 0; n < nodes(); ++n) {
      check_outcomes(user<bench::outcome>(n, outcomes_at), threads, number);
      const words* const cells = user<words>(n, cells_at);
      EXPECT_EQ(wrong_cells({cells, cells + want[0].size()}, want[static_cast<size_t>(n)]), 0u)
          << "call " << number << ", node " << n;
    }
  }
}

TEST_P(Divergent, AHashTableKeepsEveryKeyAtItsOwner) {
  const unsigned threads = simulated() ? 8 : 64;
  constexpr uint64_t keys = 4, slots = 1024, counts_at = 8192, slots_at = 16384;
  const table_args a{base() + slots_at, base() + counts_at, base() + outcomes_at, slots - 1, keys, enough()};
  on_all(1, threads, [=] { insert_keys(a); });
  run();
  std::vector<std::vector<uint64_t>> parts;
  for (int n = 0; n < nodes(); ++n) {
    check_outcomes(user<bench::outcome>(n, outcomes_at), threads, -1);
    parts.emplace_back(user<uint64_t>(n, slots_at), user<uint64_t>(n, slots_at) + slots);
    EXPECT_EQ(*user<uint64_t>(n, counts_at),
              slots - static_cast<uint64_t>(std::ranges::count(parts.back(), uint64_t{0})));
  }
  check_table(parts, uint64_t{threads} * static_cast<uint64_t>(nodes()), keys);
}

}  // namespace
}  // namespace ggas::test
