// SPDX-License-Identifier: Apache-2.0
// Tables of atomics drawn at random on real GPUs, against a reference.
#include "tests/gpu_api/calls_atomics.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_atomics) { check(calls::atomic_calls, calls::atomics); }

}  // namespace
}  // namespace ggas::gpu_test
