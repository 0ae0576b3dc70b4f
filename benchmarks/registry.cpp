// SPDX-License-Identifier: Apache-2.0
// The list of benchmarks, in the order a suite runs them.
#include <algorithm>

#include "benchmarks/benchmarks.hpp"

namespace ggas::bench {

namespace {

const benchmark registry[] = {
    {.name = "nic_cycles",
     .text = "the NIC alone, in core cycles, and the speed of its simulation",
     .params = "data_w",
     .variants = {{"rtl", "the Verilated NIC at its pins"}, {"idle", "all nodes asleep for one simulated second"}},
     .needs_nic = true,
     .needs_peer = false,
     .run = run_nic_cycles},
    {.name = "store_latency",
     .text = "half a round trip of stores between GPU threads",
     .params = "threads bytes",
     .variants = {{"store", "each thread stores 8 bytes, polls its own slot, clears it; the partner answers"}},
     .run = run_store_latency},
    {.name = "load_latency",
     .text = "a round of remote load, local store and system fence",
     .params = "threads bytes",
     .variants = {{"load", "each thread loads 8 bytes"}},
     .run = run_load_latency},
    {.name = "store_bandwidth",
     .text = "copy local to remote by GPU threads, until visible",
     .params = "bytes threads",
     .variants = {{"store", "threads in blocks of 64, 8-byte words"}},
     .run = run_store_bandwidth},
    {.name = "load_bandwidth",
     .text = "copy remote to local by GPU threads",
     .params = "bytes threads",
     .variants = {{"load", "threads in blocks of 64, 8-byte words"}},
     .run = run_load_bandwidth},
    {.name = "coalescing",
     .text = "requests that enter the NIC for 4-byte accesses, one a thread",
     .params = "values",
     .variants = {{"consecutive_store", "neighbouring threads, neighbouring values"},
                  {"consecutive_load", "likewise"},
                  {"strided_store", "every second value"},
                  {"strided_load", "every second value"}},
     .needs_nic = true,
     .run = run_coalescing},
    {.name = "barrier",
     .text = "barrier of all GPUs",
     .params = "threads",
     .variants = {{"block", "device function in a loop, one block"},
                  {"grid", "device function in a loop, several blocks"},
                  {"kernel", "a kernel for each barrier, launches included"}},
     .run = run_barrier},
    {.name = "reduce",
     .text = "sum of float vectors to node 0, one block on each GPU",
     .params = "elements bytes threads",
     .variants = {{"gather", "all push to the root, which reduces and acknowledges"}},
     .run = run_reduce},
    {.name = "allreduce",
     .text = "sum of float vectors to every node, one block on each GPU",
     .params = "elements bytes threads",
     .variants = {{"gather", "all push to the root, which reduces and casts the result"},
                  {"allgather", "all push to all, each reduces"}},
     .run = run_allreduce},
    {.name = "random_access",
     .text = "HPCC RandomAccess over the tables of all nodes, verified",
     .params = "elements bytes threads",
     .variants = {{"mailbox", "each GPU writes the random number into the owner's mailbox"}},
     .run = run_random_access},
};

}  // namespace

std::span<const benchmark> all_benchmarks() { return registry; }

const benchmark* find_benchmark(std::string_view name) {
  const auto found =
      std::find_if(std::begin(registry), std::end(registry), [&](const benchmark& b) { return name == b.name; });
  return found == std::end(registry) ? nullptr : found;
}

}  // namespace ggas::bench
