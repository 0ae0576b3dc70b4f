// SPDX-License-Identifier: Apache-2.0
// Tables of elements drawn at random on real GPUs, against a reference.
#include "tests/gpu_api/calls_elements.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, of_elements) { check(calls::element_calls, calls::elements); }

}  // namespace
}  // namespace ggas::gpu_test
