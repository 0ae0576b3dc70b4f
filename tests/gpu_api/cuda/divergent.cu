// SPDX-License-Identifier: Apache-2.0
// Divergent loops on GPUs: every call reaches the node that its pointer names. nvcc 13.0.88 once kept the distance of
// segments in a uniform register while other lanes of the warp wrote to it (tests/gpu_api/sass).
#include "rig.hpp"
#include "tests/gpu_api/divergent_run.hpp"

namespace ggas::gpu_test {
namespace {

using namespace ggas::divergent;

TEST_F(rig, hash_table_keeps_every_key_at_its_owner) {
  constexpr unsigned blocks = 132, threads = 256;
  constexpr uint64_t keys = 16, slots = 1 << 19;  // up to a half is taken
  const uint64_t counts = at.base;
  for (unsigned round = 0; round < rounds_of(4); ++round) {
    SetUp();
    start_all(blocks, threads, insert_keys, table_args{at.data, counts, at.outcomes, slots * 2 - 1, keys, timeout_ns});
    run("insert_keys");
    check_all_outcomes(blocks * threads, "insert_keys");
    std::vector<std::vector<uint64_t>> parts;
    for (int n = 0; n < nodes(); ++n) parts.push_back(read<uint64_t>(n, at.data, slots * 2));
    check_table(parts, uint64_t{blocks} * threads * static_cast<uint64_t>(nodes()), keys);
    for (int n = 0; n < nodes(); ++n) {
      const auto& part = parts[static_cast<size_t>(n)];
      EXPECT_EQ(read<uint64_t>(n, counts, 1)[0],
                part.size() - static_cast<uint64_t>(std::count(part.begin(), part.end(), uint64_t{0})));
    }
  }
}

class divergent_loops : public rig, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(calls, divergent_loops, testing::Range(0, divergent::calls));

TEST_P(divergent_loops, reach_the_node_that_is_meant) {
  const auto what = static_cast<call>(GetParam());
  const bool notes = what == call::put_notify;  // rings take 64 each, and no one reads them
  const unsigned blocks = notes ? 1 : 64, threads = notes ? 8 : 128;
  const uint64_t items = notes ? 1 : 3, all = uint64_t{blocks} * threads * static_cast<uint64_t>(nodes());
  const auto want = cells_with_values(all, items, nodes(), what);
  if (reads(GetParam()))
    for (int n = 0; n < nodes(); ++n) write(n, at.data, want[static_cast<size_t>(n)]);
  start_all(blocks, threads, kernel_of(GetParam()), args{at.data, at.copy, at.outcomes, items, timeout_ns});
  run("probe_loop");
  check_all_outcomes(blocks * threads, "probe_loop");
  for (int n = 0; n < nodes(); ++n)
    EXPECT_EQ(wrong_cells(read<words>(n, at.data, want[0].size()), want[static_cast<size_t>(n)]), 0u) << "node " << n;
}

}  // namespace
}  // namespace ggas::gpu_test
