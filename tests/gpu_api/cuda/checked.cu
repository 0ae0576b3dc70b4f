// SPDX-License-Identifier: Apache-2.0
// The checked mode on GPUs, of kernels that were compiled with GGAS_CHECKED: members that call differently, blocks of a
// node that call next to each other, memory that overlaps.
#include "rig.hpp"
#include "tests/gpu_api/calls_that_differ.cuh"

namespace ggas::gpu_test {
namespace {

using differ::kind;

__global__ void call_by_block(differ::plan p, uint64_t statuses) {
  const ggas_status s = differ::call(ggas::block{}, p);
  own<uint64_t>(statuses)[threadIdx.x] = s;
}
__global__ void call_by_grid(differ::plan p, uint64_t statuses) {
  const ggas_status s = differ::call(ggas::grid{}, p);
  if (threadIdx.x == 0) own<uint64_t>(statuses)[blockIdx.x] = s;
}

struct checked : rig {
  static constexpr unsigned threads = 256;
  // Lengths are given by the kind: a MiB of memory.
  differ::plan plan_of(kind what, int culprit) const { return {what, culprit, at.data, timeout_ns}; }
  void expect_statuses(size_t count, ggas_status want, int what) {
    for (int n = 0; n < nodes(); ++n)
      EXPECT_EQ(read<uint64_t>(n, at.base, count), std::vector<uint64_t>(count, want)) << "kind " << what << ", " << n;
  }
  std::string reported() {
    const auto r = machine().report();
    return r ? r->text() : r.error().text;
  }
};

TEST_F(checked, a_member_that_calls_differently_is_found_by_all) {
  GGAS_NEEDS_NODES(2);
  for (int k = 0; k < differ::kinds; ++k) {
    const auto what = static_cast<kind>(k);
    for (int n = 0; n < nodes(); ++n)
      ok(launch(machine(), n, 1, threads, call_by_block, plan_of(what, k % nodes()), at.base), "launch");
    run("call_by_block");
    expect_statuses(threads, what == kind::nothing ? ggas_ok : ggas_bad_argument, k);
    const auto [usual, different] = differ::words_of(what);
    EXPECT_NE(reported().find(usual), std::string::npos) << reported();
    EXPECT_NE(reported().find(different), std::string::npos) << reported();
  }
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

TEST_F(checked, every_block_of_a_grid_finds_it) {
  GGAS_NEEDS_NODES(2);
  constexpr unsigned blocks = 8;
  for (const kind what : {kind::length, kind::operation, kind::parts, kind::nothing}) {
    for (int n = 0; n < nodes(); ++n)
      ok(launch_grid(machine(), n, blocks, threads, call_by_grid, plan_of(what, nodes() - 1), at.base), "launch");
    run("call_by_grid");
    expect_statuses(blocks, what == kind::nothing ? ggas_ok : ggas_bad_argument, static_cast<int>(what));
  }
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

// More blocks at one member than at the others: none of them waits.
TEST_F(checked, grids_of_different_sizes_are_found) {
  GGAS_NEEDS_NODES(2);
  const auto blocks_of = [](int n) { return n == 0 ? 4u : 2u; };
  for (int n = 0; n < nodes(); ++n)
    ok(launch_grid(machine(), n, blocks_of(n), threads, call_by_grid, plan_of(kind::nothing, 0), at.base), "launch");
  run("call_by_grid");
  for (int n = 0; n < nodes(); ++n) {
    const unsigned blocks = blocks_of(n);
    EXPECT_EQ(read<uint64_t>(n, at.base, blocks), std::vector<uint64_t>(blocks, ggas_bad_argument)) << n;
  }
  for (int n = 0; n < nodes(); ++n)
    ok(launch_grid(machine(), n, 4, threads, call_by_grid, plan_of(kind::nothing, 0), at.base), "launch");
  run("call_by_grid");
  expect_statuses(4, ggas_ok, -1);
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

// Node 0 has two blocks: the second one calls while the first one waits for the other nodes, which wait for that.
__global__ void call_beside(differ::plan p, uint64_t statuses, uint64_t flags) {
  uint64_t* const begun = own<uint64_t>(flags);
  uint64_t* const refused = begun + 1;
  ggas_status s = ggas_ok;
  if (ggas_node() == 0 && blockIdx.x == 1) {
    s = ggas_wait_until_block(begun, ggas_eq, uint64_t{1}, timeout_ns);
    const uint64_t from = bench::time_ns();
    while (bench::time_ns() - from < 1'000'000) __nanosleep(1000);  // it is in the call by now
    if (s == ggas_ok) s = differ::call(ggas::block{}, p);
    __syncthreads();
    if (threadIdx.x == 0)
      for (int n = 0; n < ggas_nodes(); ++n) ggas_store(ggas_pointer_of_node<uint64_t>(n, flags) + 1, uint64_t{1});
  } else {
    if (ggas_node() == 0 && threadIdx.x == 0) ggas_store(begun, uint64_t{1});
    if (ggas_node() != 0) s = ggas_wait_until_block(refused, ggas_eq, uint64_t{1}, timeout_ns);
    if (s == ggas_ok) s = differ::call(ggas::block{}, p);
  }
  if (threadIdx.x == 0) own<uint64_t>(statuses)[blockIdx.x] = s;
}

TEST_F(checked, a_block_beside_another_one_is_refused) {
  GGAS_NEEDS_NODES(2);
  const uint64_t flags = at.base + 4096;
  for (int n = 0; n < nodes(); ++n)
    ok(launch_grid(machine(), n, n == 0 ? 2 : 1, threads, call_beside, plan_of(kind::nothing, 0), at.base, flags),
       "launch");
  run("call_beside");
  EXPECT_EQ(read<uint64_t>(0, at.base, 2), (std::vector<uint64_t>{ggas_ok, ggas_bad_argument}));
  for (int n = 1; n < nodes(); ++n) EXPECT_EQ(read<uint64_t>(n, at.base, 1)[0], ggas_ok);
  EXPECT_NE(reported().find("another block or stream of the node is in a call"), std::string::npos) << reported();
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

__global__ void call_in_place(uint64_t data, uint64_t statuses) {
  float* const v = own<float>(data);
  own<uint64_t>(statuses)[threadIdx.x] = ggas_alltoall_block(v, v, 100, timeout_ns);
}
TEST_F(checked, an_alltoall_in_place_is_refused) {
  GGAS_NEEDS_NODES(2);
  for (int n = 0; n < nodes(); ++n) ok(launch(machine(), n, 1, threads, call_in_place, at.data, at.base), "launch");
  run("call_in_place");
  expect_statuses(threads, ggas_bad_argument, -1);
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

}  // namespace
}  // namespace ggas::gpu_test
