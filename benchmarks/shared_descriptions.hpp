// SPDX-License-Identifier: Apache-2.0
// Benchmarks that are the same whoever runs them, variants too.
#pragma once

#include "benchmarks/description.hpp"

namespace ggas::bench {

inline description himeno_description() {
  return {.name = "himeno",
          .text = "Himeno's benchmark in slices along z, verified",
          .params = "elements grid",
          .variants = {{"host", "the host waits for every kernel and every transfer"},
                       {"stream", "sending and waiting take their turn in the stream"},
                       {"in_kernel", "one kernel a step, whose blocks wait and tell the neighbours"},
                       {"device", "one kernel for all steps"}},
          .needs_peer = false};
}

inline description global_reduction_description() {
  return {.name = "global_reduction",
          .text = "sum of every GPU's array, then an allreduce of one value",
          .params = "elements bytes",
          .variants = {{"in_kernel", "a kernel for each reduction, whose last block does the allreduce"},
                       {"stream", "the allreduce is a kernel of its own in the stream"},
                       {"device", "one kernel for all reductions"}},
          .needs_peer = false};
}

// Data to everybody: the three differ in name and text.
inline description exchange_description(const char* name, const char* text) {
  return {.name = name,
          .text = text,
          .params = "elements bytes threads method",
          .variants = {{"block", "called in a running kernel by one block on each GPU"},
                       {"grid", "called in a running kernel by 16 blocks; on GPUs"},
                       {"graph", "a node of a CUDA graph; on GPUs"}}};
}
inline description broadcast_description() { return exchange_description("broadcast", "floats of one GPU to all"); }
inline description allgather_description() { return exchange_description("allgather", "floats of every GPU to all"); }
inline description alltoall_description() {
  return exchange_description("alltoall", "floats of every GPU for each; elements per destination");
}
inline description reducescatter_description() {
  return exchange_description("reducescatter", "sum of floats of every GPU, a part to each; elements of a part");
}
inline description gather_description() { return exchange_description("gather", "floats of every GPU to one"); }
inline description scatter_description() { return exchange_description("scatter", "floats of one GPU, a part to each"); }

}  // namespace ggas::bench
