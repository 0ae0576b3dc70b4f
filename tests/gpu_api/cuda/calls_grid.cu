// SPDX-License-Identifier: Apache-2.0
// broadcast, allgather and alltoall by grids, drawn at random, on real GPUs.
#include "tests/gpu_api/calls_grid.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_grids) {
  for (const unsigned blocks : {1u, 5u, 24u}) calls::run_grids(*this, blocks, 128, 500'000, rounds_of(200));
}

}  // namespace
}  // namespace ggas::gpu_test
