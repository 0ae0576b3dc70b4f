// SPDX-License-Identifier: Apache-2.0
// The list of benchmarks on real GPUs, in the order of the suite.
#include "benchmarks/cuda/benchmarks.hpp"

namespace ggas::bench {

namespace {

const gpu_benchmark registry[] = {
    {{.name = "store_latency",
      .text = "half a round trip of stores between GPU threads",
      .params = "threads bytes",
      .variants = {{"store", "each thread stores 8 bytes, polls its own slot, clears it; the partner answers"}}},
     run_store_latency},
    {{.name = "barrier",
      .text = "barrier of all GPUs",
      .params = "threads method",
      .variants = {{"block", "one block"}, {"grid", "several blocks"}}},
     run_barrier},
    {{.name = "energy",
      .text = "energy of GPUs and processors for the work of a load, windows of 1 s",
      .params = "method",
      .variants = {{"idle", "nothing runs"}}},
     run_energy},
};

}  // namespace

std::span<const gpu_benchmark> all_gpu_benchmarks() { return registry; }

}  // namespace ggas::bench
