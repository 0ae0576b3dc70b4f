// SPDX-License-Identifier: Apache-2.0
// One-sided calls by blocks of every shape on real GPUs.
#include "tests/gpu_api/calls_shapes.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_shapes) { calls::run_shapes(*this); }

}  // namespace
}  // namespace ggas::gpu_test
