// SPDX-License-Identifier: Apache-2.0
// Benchmarks that are the same the one that runs them, variants too.
#pragma once

#include "benchmarks/harness/description.hpp"

namespace ggas::bench {

inline description upc_cases_description() {
  return {.name = "upc_cases",
          .text = "the testbed of UPC's collectives: a call and computing by turns; of the slowest rank",
          .params = "elements bytes threads method scheme slowest",
          .variants = {{"case_0", "little computing"},
                       {"case_1", "computing of two calls"},
                       {"case_2", "the same, dynamic buffers"},
                       {"case_3", "as 1, one rank computes ten times as long"},
                       {"case_4", "naive: a load for each element"},
                       {"case_5", "naive: a store for each element"},
                       {"case_6", "as 1, static buffers of 8 KB"},
                       {"case_7", "as 1, mode mine"},
                       {"case_8", "as 1, mode none"},
                       {"case_9", "dynamic buffers, mine"},
                       {"case_10", "dynamic buffers, none"},
                       {"case_11", "static buffers, mine"},
                       {"case_12", "static buffers, none"},
                       {"late_start", "the last rank begins 5 ms late, no computing"}},
          .needs_peer = false};
}
inline description message_description() {
  return {.name = "message",
          .text = "messages between ranks of kernels: latency, bandwidth, rate, and what they are compared with",
          .params = "ranks threads bytes method waiting record_bytes",
          .variants = {{"thread", "ranks are threads"},
                       {"warp", "ranks are warps"},
                       {"block", "ranks are blocks"},
                       {"flag", "two blocks without messages: stores, and a word that the other one waits for"},
                       {"stores", "as many lines as messages have, stored by each thread for the next one"},
                       {"put_block", "one way by puts of a block"},
                       {"begin", "ggas_messages_begin, again and again"},
                       {"barrier", "barrier of all blocks of all nodes"}},
          .needs_peer = false};
}
inline description pi_description() {
  return {.name = "pi",
          .text = "pi by a program of MPI in a kernel, and by two kernels of one node",
          .params = "ranks threads intervals",
          .variants = {{"send", "each thread sends its sum to rank 0"},
                       {"reduce", "one MPI_Reduce of all threads"},
                       {"two_kernels_in_order", "sums of threads, then one thread adds them"},
                       {"two_kernels", "sums of blocks, then one block adds them"}},
          .needs_peer = false};
}
inline description virtualization_description() {
  return {.name = "virtualization",
          .text = "time of a kernel over its blocks, on one node",
          .params = "blocks threads",
          .variants = {{"registers", "dependent additions in registers"},
                       {"shared", "the same in shared memory"},
                       {"state_kept", "state in shared memory over a barrier of all blocks"},
                       {"state_stored", "two launches, which store and load it"}},
          .needs_peer = false};
}

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

// Layouts of datatypes (typed_patterns.hpp).
inline std::vector<variant_info> typed_variants() {
  return {{"face_xy", "a face of a cube of doubles, dense"},
          {"face_xz", "a face in rows"},
          {"face_yz", "a face in elements"},
          {"vector_8", "blocks of 8 bytes, 64 apart"},
          {"vector_32", "blocks of 32 bytes, 128 apart"},
          {"vector_128", "blocks of 128 bytes, 512 apart"},
          {"vector_256", "blocks of 256 bytes, 1 KB apart"},
          {"indexed_8", "a list of blocks of 8 bytes, in an order by chance"},
          {"indexed_64", "a list of blocks of 64 bytes, likewise"},
          {"indexed_mixed", "a list of blocks of 8 to 56 bytes, in their order"},
          {"struct_24", "a double, two ints, a char: 17 of 24 bytes"},
          {"struct_48", "the same with gaps between, 17 of 48 bytes"}};
}
inline description pack_description() {
  return {.name = "pack",
          .text = "data of datatypes packed and unpacked in a GPU's own memory, on a stream",
          .params = "bytes method",
          .variants = typed_variants(),
          .needs_peer = false};
}
inline description typed_put_description() {
  return {.name = "typed_put",
          .text = "data of datatypes put from layout to layout, on a stream",
          .params = "bytes method",
          .variants = typed_variants()};
}

// Data to every member: the three differ in name and text.
inline description exchange_description(const char* name, const char* text) {
  return {.name = name,
          .text = text,
          .params = "elements bytes threads method",
          .variants = {{"block", "called in a running kernel by one block on each GPU"},
                       {"grid", "called in a running kernel by 16 blocks; on GPUs"},
                       {"graph", "a node of a CUDA graph; on GPUs"}}};
}
inline description broadcast_description() {
  description d = exchange_description("broadcast", "floats of one GPU to all");
  d.variants.push_back({"team", "as block, for a team of all nodes: a store for each, where NICs copy stores to all"});
  return d;
}
inline description allgather_description() { return exchange_description("allgather", "floats of every GPU to all"); }
inline description alltoall_description() {
  return exchange_description("alltoall", "floats of every GPU for each; elements per destination");
}
inline description reducescatter_description() {
  return exchange_description("reducescatter", "sum of floats of every GPU, a part to each; elements of a part");
}
inline description gather_description() { return exchange_description("gather", "floats of every GPU to one"); }
inline description scatter_description() {
  return exchange_description("scatter", "floats of one GPU, a part to each");
}
inline description permute_description() {
  return exchange_description("permute", "floats of every GPU to the next one");
}
inline description scan_description() {
  return exchange_description("scan", "sum of floats of a GPU and those before it");
}

}  // namespace ggas::bench
