// SPDX-License-Identifier: Apache-2.0
// Barriers on real GPUs.
#include <cstdio>

#include "benchmarks/kernels/collectives.cuh"
#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

TEST_F(rig, barriers_of_one_block_and_of_grids) {
  const bench::barrier_args a{at.base, at.outcomes, at.samples, 1000, 50, timeout_ns};
  for (unsigned blocks : {1u, 16u}) {
    start_all(blocks, 128, bench::barrier_loop, a);
    run("barrier_loop");
    check_all_outcomes(blocks * 128, "barrier");
    std::printf("barrier, %2u blocks: median %llu ns\n", blocks,
                static_cast<unsigned long long>(median(read<uint64_t>(0, at.samples, a.rounds))));
  }
}

}  // namespace
}  // namespace ggas::gpu_test
