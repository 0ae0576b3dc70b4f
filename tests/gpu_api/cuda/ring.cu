// SPDX-License-Identifier: Apache-2.0
// Rings of records between nodes on real GPUs: ten million random records of 24 writers a node, and the edges.
#include "tests/gpu_api/ring.cuh"

#include "calls.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(calls_rig, ring_records_come_once) { calls::run_ring_random(*this, 8, 1, rounds_of(420000)); }
TEST_F(calls_rig, ring_many_readers_take_each_once) { calls::run_ring_random(*this, 8, 4, rounds_of(40000)); }
TEST_F(calls_rig, ring_small_goes_round_often) { calls::run_ring_random(*this, 2, 2, rounds_of(20000)); }
TEST_F(calls_rig, ring_goes_on_behind_32_bits) { calls::run_ring_behind_32_bits(*this, rounds_of(2000)); }
TEST_F(calls_rig, ring_all_sizes) { calls::run_ring_sizes(*this, 8, 1); }
TEST_F(calls_rig, ring_full_times_out) { calls::run_ring_full(*this); }
TEST_F(calls_rig, ring_launch_begins_clean) { calls::run_ring_launches(*this); }

}  // namespace
}  // namespace ggas::gpu_test
