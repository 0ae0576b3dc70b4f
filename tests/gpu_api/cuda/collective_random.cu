// SPDX-License-Identifier: Apache-2.0
// Collectives at random on real GPUs, in sequence in a running kernel.
#include "rig.hpp"
#include "tests/gpu_api/collective_plan.cuh"

namespace ggas::gpu_test {
namespace {

using test::collective_call;

// Threads of a call meet around it: a block, or the grids of all members. A block has stored to its destinations, and
// peers may from the call on: hence the fence.
template <bool Grid>
GGAS_DEVICE ggas_status meet(const collective_call& c) {
  if (Grid) return ggas_barrier_grid(timeout_ns, c.team);
  __syncthreads();
  ggas_fence();
  return ggas_ok;
}
template <bool Grid>
__global__ void GGAS_LAUNCH_BOUNDS(256) play(places at, unsigned calls) {
  outcome out{};
  for (unsigned i = 0; i < calls && out.status == ggas_ok; ++i) {
    const collective_call c = own<collective_call>(at.copy)[i];
    if (c.rank_of(ggas_node()) < 0) continue;
    test::fill(c);
    ggas_status s = meet<Grid>(c);
    if (s == ggas_ok) s = test::make_call<Grid>(c, timeout_ns);
    if (Grid && s == ggas_ok) s = meet<Grid>(c);
    if (out.errors == 0) out.begin_ns = i;  // the first one that is wrong, at the end
    out.errors += test::count_wrong(c);
    if (s == ggas_ok) s = meet<Grid>(c);
    out.status = s;
  }
  own<outcome>(at.outcomes)[bench::global_thread()] = out;
}

class random_collectives : public rig {
 public:
  void play_on_all(bool grid, unsigned blocks, unsigned threads, unsigned seed) {
    const unsigned calls = rounds_of(threads < 32 ? 60 : 400);
    test::collective_draw draw(nodes(), at.data, false, seed);
    std::vector<collective_call> plan;
    for (unsigned i = 0; i < calls; ++i) plan.push_back(draw.next(grid));
    for (int node = 0; node < nodes(); ++node) write(node, at.copy, plan);
    start_all(blocks, threads, grid ? play<true> : play<false>, at, calls);
    run("collectives at random");
    for (int node = 0; node < nodes(); ++node) check(node, blocks, threads, plan);
  }
  void check(int node, unsigned blocks, unsigned threads, const std::vector<collective_call>& plan) {
    for (const outcome& o : read<outcome>(node, at.outcomes, size_t{blocks} * threads)) {
      ASSERT_TRUE(o.status == ggas_ok && o.errors == 0)
          << "node " << node << ", " << blocks << " x " << threads << ": status " << o.status << ", " << o.errors
          << " wrong, " << plan[std::min<size_t>(o.begin_ns, plan.size() - 1)].text();
    }
  }
};

TEST_F(random_collectives, of_blocks) {
  for (unsigned threads : {1u, 2u, 32u, 33u, 100u, 128u, 256u}) play_on_all(false, 1, threads, threads);
}
TEST_F(random_collectives, of_grids) {
  for (unsigned blocks : {2u, 7u, 64u}) play_on_all(true, blocks, 128, blocks);
}

}  // namespace
}  // namespace ggas::gpu_test
