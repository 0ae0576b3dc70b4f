// SPDX-License-Identifier: Apache-2.0
// Tables of transfers drawn at random on real GPUs, against a reference.
#include "tests/gpu_api/calls_transfers.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_transfers) { check(calls::transfer_calls, calls::transfers); }

}  // namespace
}  // namespace ggas::gpu_test
