// SPDX-License-Identifier: Apache-2.0
// Waits and notifications in every form on real GPUs.
#include "tests/gpu_api/calls_notify.cuh"
#include "tests/gpu_api/calls_waits.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_waits) { calls::run_waits(*this, rounds_of(3000)); }
TEST_F(calls_rig, of_notifications) { calls::run_notifications(*this, rounds_of(3000)); }

}  // namespace
}  // namespace ggas::gpu_test
