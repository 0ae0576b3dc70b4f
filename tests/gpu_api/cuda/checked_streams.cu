// SPDX-License-Identifier: Apache-2.0
// The checked mode of calls on streams, which GGAS_CHECKED in the environment asks for: the kernels were compiled
// without it. And streams of a node that run collectives at the same time, with teams of their own.
#include "ggas/heap.hpp"
#include "ggas/on_stream.cuh"
#include "ggas/teams.hpp"
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

struct checked_streams : rig {
  static constexpr size_t n = 5000;
  float* data(int node, uint64_t offset) const { return reinterpret_cast<float*>(segment(node) + offset); }
  uint64_t* status(int node, unsigned which = 0) const {
    return reinterpret_cast<uint64_t*>(segment(node) + at.base) + which;
  }
};

TEST_F(checked_streams, calls_are_compared) {
  GGAS_NEEDS_NODES(2);
  ASSERT_TRUE(machine().device_context(0).checked) << "GGAS_CHECKED=1 must be in the environment";
  const std::string different[] = {"ggas_max", "n 5100", "root 1"};
  for (int what = 0; what < 4; ++what) {
    for (int node = 0; node < nodes(); ++node) {
      const bool other = node == nodes() - 1;
      float *const src = data(node, at.data), *const dst = data(node, at.copy);
      const stream_report report{timeout_ns, status(node)};
      write(node, at.base, std::vector<uint64_t>(1, ggas_ok));
      if (what == 0)
        ok(allreduce_on_stream(machine(), node, dst, src, n, other ? ggas_max : ggas_sum, report), "allreduce");
      if (what == 1) ok(allgather_on_stream(machine(), node, dst, src, other ? n : n + 100, report), "allgather");
      if (what == 2) ok(reduce_on_stream(machine(), node, dst, src, n, ggas_sum, other, report), "reduce");
      if (what == 3) ok(allreduce_on_stream(machine(), node, dst, src, n, ggas_sum, report), "allreduce");
    }
    run("calls that differ");
    for (int node = 0; node < nodes(); ++node)
      EXPECT_EQ(read<uint64_t>(node, at.base, 1)[0], what == 3 ? ggas_ok : ggas_bad_argument) << what << ", " << node;
    if (what == 3) continue;
    // After each call: a node keeps 64 records, and a call may have as many blocks.
    const auto found = machine().report();
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_NE(found->text().find(different[what]), std::string::npos) << found->text();
  }
  EXPECT_EQ(text_of(machine().reset(30 * second)), "");
}

TEST_F(checked_streams, two_streams_of_a_node_have_teams_of_their_own) {
  GGAS_NEEDS_NODES(2);
  std::string why;
  const auto memory = heap::create(heap_of(machine(), at.copy + (64 << 20) - at.base), why);
  ASSERT_TRUE(memory) << why;
  team_space space(machine(), *memory);
  const ggas_team other = space.make(0, 1, nodes(), why);
  ASSERT_EQ(why, "");
  std::vector<stream> second_of;
  for (int node = 0; node < nodes(); ++node) second_of.push_back(*machine().make_stream(node));
  for (unsigned round = 0; round < rounds_of(20); ++round) {
    for (int node = 0; node < nodes(); ++node) {
      write(node, at.data, std::vector<float>(2 * n, static_cast<float>(node + 1)));
      write(node, at.base, std::vector<uint64_t>(2, ggas_ok));
    }
    for (int node = 0; node < nodes(); ++node) {
      const stream streams[] = {stream(node), second_of[static_cast<size_t>(node)]};
      for (unsigned which = 0; which < 2; ++which)
        ok(allreduce_on_stream(machine(), streams[which], data(node, at.copy) + which * n,
                               data(node, at.data) + which * n, n, which == 0 ? ggas_sum : ggas_max,
                               {timeout_ns, status(node, which)}, {.blocks = 8},
                               which == 0 ? stream_team() : stream_team(other)),
           "allreduce");
    }
    run("two streams");
    for (int node = 0; node < nodes(); ++node) {
      EXPECT_EQ(read<uint64_t>(node, at.base, 2), std::vector<uint64_t>(2, ggas_ok));
      std::vector<float> want(n, static_cast<float>(nodes() * (nodes() + 1) / 2));
      want.resize(2 * n, static_cast<float>(nodes()));
      EXPECT_EQ(read<float>(node, at.copy, 2 * n), want) << node;
    }
  }
}

}  // namespace
}  // namespace ggas::gpu_test
