// SPDX-License-Identifier: Apache-2.0
// Launches on real GPUs: what they return.
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

__global__ void touch(places at) { own<outcome>(at.outcomes)[detail::thread_rank()] = {}; }

// CUDA keeps an error until somebody asks for it.
TEST_F(rig, a_launch_does_not_tell_of_an_error_before_it) {
  void* nothing = nullptr;
  EXPECT_EQ(cudaMalloc(&nothing, size_t{1} << 50), cudaErrorMemoryAllocation);
  start(0, 1, 32, touch, at);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  run("touch");
  check_outcomes(0, 32, "touch");
}

TEST_F(rig, a_launch_that_cannot_be_is_told) {
  EXPECT_NE(ggas::launch(machine(), 0, 1, 2048, touch, at), cudaSuccess);
  cudaGetLastError();
}

}  // namespace
}  // namespace ggas::gpu_test
