// SPDX-License-Identifier: Apache-2.0
// Plain accesses next to ggas_ accesses to the own memory on real GPUs.
#include "tests/gpu_api/mixes_run.hpp"
#include "tests/gpu_api/program_order_run.hpp"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, plain_accesses_are_in_program_order) { program_order::run_all(*this, rounds_of(300)); }
TEST_F(calls_rig, mixes_of_one_block_are_those_of_a_sequential_model) { mixes::run_mixes(*this, 1'000'000); }

}  // namespace
}  // namespace ggas::gpu_test
