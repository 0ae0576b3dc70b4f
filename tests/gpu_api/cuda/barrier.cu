// SPDX-License-Identifier: Apache-2.0
// barrier and sync on real GPUs: of one block and of a grid, of all nodes and of teams.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

// The team that a round is about: all nodes, those of even or odd number, the node alone.
__device__ ggas_team team_of_round(uint64_t round) {
  const int odd = ggas_node() % 2;
  if (round % 4 == 1) return ggas_team_strided(1, odd, 2, (ggas_nodes() - odd + 1) / 2);
  if (round % 16 == 2) return ggas_team_strided(2, ggas_node(), 1, 1);
  return ggas_world();
}

// Every round all threads of a node store the round to every member; after the barrier all threads find what the
// members stored. Words of 128 bytes' distance and of neighbours, so that they travel in packets of all kinds. The
// check itself ends with a sync: what was loaded may be overwritten.
__global__ void barrier_rounds(places at, uint64_t rounds, bool grid) {
  outcome out{0, 0, 0, ggas_ok};
  const uint64_t me = static_cast<uint64_t>(ggas_node()), i = bench::global_thread(), all = bench::global_threads();
  ggas_status s = ggas_ok;
  for (uint64_t r = 1; r <= rounds && s == ggas_ok; ++r) {
    const ggas_team team = team_of_round(r);
    const uint64_t row = at.data + (i % 2 ? i * 8 : i * 128 + (8 << 20)), step = 16 << 20;
    for (int k = 0; k < team.size; ++k)
      ggas_store(ggas_pointer_of_node<uint64_t>(ggas_team_node(team, k), row) + me * step / 8, r << 32 | i);
    s = grid ? ggas_barrier_grid(timeout_ns, team) : ggas_barrier_block(timeout_ns, team);
    const uint64_t other = (i + r * 37) % all;  // stored by another thread, often another block
    const uint64_t place = at.data + (other % 2 ? other * 8 : other * 128 + (8 << 20));
    for (int k = 0; k < team.size && s == ggas_ok; ++k) {
      const auto node = static_cast<uint64_t>(ggas_team_node(team, k));
      if (ggas_load(own<uint64_t>(place) + node * step / 8) != (r << 32 | other)) ++out.errors;
    }
    if (s == ggas_ok) s = grid ? ggas_sync_grid(timeout_ns, team) : ggas_sync_block(timeout_ns, team);
  }
  out.status = s;
  own<outcome>(at.outcomes)[i] = out;
}

TEST_F(rig, barriers_make_stores_visible) {
  for (const unsigned threads : {1u, 32u, 96u, 1024u}) {
    start_all(1, threads, barrier_rounds, at, 200, false);
    run("barrier_rounds");
    check_all_outcomes(threads, "barriers of a block of " + std::to_string(threads));
  }
  for (const unsigned blocks : {2u, 16u, 100u}) {
    start_all(blocks, 128, barrier_rounds, at, 100, true);
    run("barrier_rounds");
    check_all_outcomes(size_t{blocks} * 128, "barriers of " + std::to_string(blocks) + " blocks");
  }
}

// A node that comes late is waited for: what it stored is there when the others have left, as fences on both sides make
// the sync's own accesses a release and an acquire.
__global__ void sync_with_a_late_node(places at, int late, uint64_t mark) {
  outcome out{0, 0, 0, ggas_ok};
  const uint64_t start = bench::time_ns();
  if (ggas_node() == late) {
    while (bench::time_ns() - start < 100'000) __nanosleep(1000);
    for (int k = 0; k < ggas_nodes(); ++k)
      if (bench::global_thread() == 0) ggas_store(ggas_pointer_of_node<uint64_t>(k, at.base), mark);
  }
  ggas_fence();
  out.status = ggas_sync_block(timeout_ns);
  ggas_fence();
  if (ggas_load(own<uint64_t>(at.base)) != mark) ++out.errors;
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

TEST_F(rig, a_sync_waits_for_the_last) {
  GGAS_NEEDS_NODES(2);
  for (int late = 0; late < nodes(); ++late) {
    start_all(1, 64, sync_with_a_late_node, at, late, 1 + static_cast<uint64_t>(late));
    run("sync_with_a_late_node");
    check_all_outcomes(64, "sync");
  }
}

__global__ void barrier_alone(places at, bool grid, ggas_status want) {
  outcome out{0, 0, 0, ggas_ok};
  const uint64_t brief = 2'000'000;
  if ((grid ? ggas_barrier_grid(brief) : ggas_barrier_block(brief)) != want) ++out.errors;
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

TEST_F(rig, a_barrier_that_timed_out_leaves_the_node_broken) {
  GGAS_NEEDS_NODES(2);
  for (const bool grid : {false, true}) {
    const unsigned blocks = grid ? 7 : 1;
    for (const ggas_status want : {ggas_timed_out, ggas_broken}) {
      start(0, blocks, 64, barrier_alone, at, grid, want);
      run("barrier_alone");
      check_outcomes(0, size_t{blocks} * 64, "a barrier alone");
    }
    EXPECT_EQ(text_of(machine().reset(30 * second)), "");
    start_all(blocks, 64, barrier_rounds, at, 10, grid);
    run("barrier_rounds");
    check_all_outcomes(size_t{blocks} * 64, "barriers behind a reset");
  }
}

}  // namespace
}  // namespace ggas::gpu_test
