// SPDX-License-Identifier: Apache-2.0
// NVSHMEM on one process a GPU: start-up, and how a kernel's rounds become a record.
#pragma once

#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "benchmarks/compare/figure.hpp"
#include "benchmarks/compare/gpu.cuh"
#include "benchmarks/compare/processes.hpp"

namespace ggas::compare {

// This process among all: a GPU and its part of the symmetric memory.
struct processing_element {
  crew& all;
  origin from;
  cudaStream_t stream;  // its own: everything happens in it
  outcome* found;       // host memory that kernels write: of most_blocks blocks
  char *source, *target;
  uint64_t* flags;                    // zero
  std::vector<nvshmem_team_t> teams;  // of all, one for each block of a grid; the first is the world

  static constexpr size_t data_bytes = size_t{1} << 30;  // of source and of target
  static constexpr size_t flag_bytes = 256 << 10;
  int me() const { return all.rank(); }
  int count() const { return all.size(); }
};

// Starts NVSHMEM; ends the process if that fails.
processing_element join(crew& all);

// What happens in a run, in this order. All get its number; what they launch counts what is wrong in `found`.
struct job {
  using step = std::function<void(uint64_t run)>;
  step start;         // what is measured: on the first `used` GPUs
  step prepare = {};  // other data in every run
  step check = {};    // when all GPUs have ended
  step lead = {};     // right before the clock starts (measure_events)
};

// A check without a record: the job, once.
void check_rounds(processing_element& pe, const figure& f, int used, const job& j);

// Runs the job on all GPUs at once: a warm-up and then `repetitions` times. Prints `f` with the time that the slowest
// block of all GPUs wrote to its outcome, divided by `parts`.
void measure_rounds(processing_element& pe, figure f, int used, double parts, const job& j);

// The same with the time between two events, of the slowest GPU; `value` turns ns into the figure.
void measure_events(processing_element& pe, figure f, int used, const std::function<double(double ns)>& value,
                    const job& j);

void measure_latencies(processing_element& pe);
void measure_block_collectives(processing_element& pe);
void measure_grid_collectives(processing_element& pe);
void measure_on_stream(processing_element& pe);
void measure_rates(processing_element& pe);
void measure_jacobi(processing_element& pe);
void measure_ring(processing_element& pe);
void measure_energy(processing_element& pe);

}  // namespace ggas::compare
