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
     {run_store_latency}},
    {{.name = "put_bandwidth",
      .text = "large puts",
      .params = "bytes blocks method",
      .variants = {{"copy_engine", "queued by the host in a stream"}}},
     {run_put_on_stream}},
    {{.name = "barrier",
      .text = "barrier of all GPUs",
      .params = "threads method",
      .variants = {{"block", "one block"}, {"grid", "several blocks"}}},
     {run_barrier}},
    {{.name = "allreduce",
      .text = "sum of float vectors to every GPU",
      .params = "elements bytes method",
      .variants = {{"auto", "the way the tuning table names for the size"}}},
     {run_allreduce_graph}},
    {{.name = "himeno",
      .text = "Himeno's Jacobi solver of Poisson's equation on a grid in slices",
      .params = "elements grid depth",
      .variants = {{"host", "the host copies slices and waits between steps"},
                   {"stream", "signals in streams keep the steps"},
                   {"in_kernel", "one persistent kernel"},
                   {"device", "kernels that launch the next ones"}}},
     {run_himeno}},
    {{.name = "global_reduction",
      .text = "one sum over numbers on all GPUs",
      .params = "elements bytes",
      .variants = {{"in_kernel", "one kernel for all rounds"}, {"stream", "kernels and collectives in a stream"}}},
     {run_global_reduction}},
    {{.name = "energy",
      .text = "energy of GPUs and processors for the work of a load, windows of 1 s",
      .params = "method",
      .variants = {{"idle", "nothing runs"}}},
     {run_energy}},
};

}  // namespace

std::span<const gpu_benchmark> all_gpu_benchmarks() { return registry; }

}  // namespace ggas::bench
