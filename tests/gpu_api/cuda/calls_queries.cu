// SPDX-License-Identifier: Apache-2.0
// What kernels ask, on real GPUs, and kernels that begin before the one before has ended.
#include "tests/gpu_api/calls_queries.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_queries) { calls::run_queries(*this); }
TEST_F(calls_rig, behind_each_other) {
  for (const unsigned blocks : {1u, 40u, 300u}) calls::run_chain(*this, blocks, 256, rounds_of(500));
}

}  // namespace
}  // namespace ggas::gpu_test
